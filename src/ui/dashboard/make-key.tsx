import type { ApiKey, CreatedApiKey } from "../shared/api.ts";
import { Dialog } from "../shared/dialog.tsx";
import { keyChange, KeyForm, keyRequest, NO_WISHES, RollForm, wishesOf } from "../shared/key-form.tsx";
import { api } from "./session.ts";

export function MakeKey(props: { readonly onClose: () => void; readonly onMade: (key: CreatedApiKey) => void }) {
  return (
    <Dialog title="Create key" onClose={props.onClose}>
      <KeyForm
        isNew
        start={NO_WISHES}
        unset="Never"
        action="Create key"
        onSubmit={async (wishes) => props.onMade(await api.createKey(keyRequest(wishes)))}
        onClose={props.onClose}
      />
    </Dialog>
  );
}

interface OfKey {
  readonly of: ApiKey;
  readonly onClose: () => void;
}

export function EditKey({ of, onClose, onChanged }: OfKey & { readonly onChanged: () => void }) {
  return (
    <Dialog title={`Edit “${of.name}”`} onClose={onClose}>
      <KeyForm
        isNew={false}
        start={wishesOf(of)}
        unset="Keep as is"
        action="Save"
        onSubmit={async (wishes) => {
          const change = keyChange(wishes, of);
          if (change !== null) await api.changeKey(of.id, change);
          onChanged();
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function RollKey({ of, onClose, onMade }: OfKey & { readonly onMade: (key: CreatedApiKey) => void }) {
  return (
    <Dialog title={`Roll “${of.name}”?`} onClose={onClose}>
      <RollForm onSubmit={async (grace) => onMade(await api.rollKey(of.id, grace))} onClose={onClose} />
    </Dialog>
  );
}
