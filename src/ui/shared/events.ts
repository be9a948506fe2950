/**
 * The data of each server-sent event of an answer, as it comes; what breaks off in the middle of an event is not given.
 * Comments, which keep a stream open, are left out.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const events = rest.split(/\r?\n\r?\n/);
      rest = events.pop() ?? "";
      for (const event of events) {
        const data = event
          .split(/\r?\n/)
          .filter((line) => line.startsWith("data:"))
          .map((line) => line.slice("data:".length).replace(/^ /, ""));
        if (data.length > 0) yield data.join("\n");
      }
    }
  } finally {
    await reader.cancel();
  }
}
