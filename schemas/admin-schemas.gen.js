// Generated from schemas/*.schema.json by `npm run types`. Do not edit.
export const schemas = {
  "Decision": {
    "title": "Decision",
    "description": "One line of the decision log: what was decided about one request, and on what grounds. Nothing of what it said.",
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "v": {
        "description": "Version of this format.",
        "const": 1
      },
      "time": {
        "description": "When the request arrived.",
        "type": "string",
        "format": "date-time",
        "examples": [
          "2026-01-10T08:00:00.123Z"
        ]
      },
      "id": {
        "description": "The gateway's own id, that of the charge; null when it was refused before it was one to admit.",
        "type": [
          "string",
          "null"
        ],
        "examples": [
          "019b0f2e-4e2a-7c11-9d3b-0b4f0a9f2c55"
        ]
      },
      "request_id": {
        "description": "X-Request-Id.",
        "type": "string"
      },
      "config": {
        "description": "Hash of the configuration that decided.",
        "type": "string"
      },
      "endpoint": {
        "description": "The gateway's name of the endpoint.",
        "enum": [
          "chat",
          "messages",
          "responses",
          "embeddings",
          "rerank",
          "speech",
          "transcription",
          "image"
        ]
      },
      "user": {
        "description": "Keyed digest of the user's id, the same in every line of one store; null when nobody was known.",
        "type": [
          "string",
          "null"
        ]
      },
      "key": {
        "description": "The same of the API key's id; null with an access token.",
        "type": [
          "string",
          "null"
        ]
      },
      "plan": {
        "description": "The user's plan tier.",
        "type": [
          "string",
          "null"
        ]
      },
      "model": {
        "description": "As the client asked for it, at most 200 characters; null when the body was not read.",
        "type": [
          "string",
          "null"
        ],
        "maxLength": 200
      },
      "stream": {
        "description": "Whether a stream was asked for.",
        "type": "boolean"
      },
      "prompt_bytes": {
        "description": "UTF-8 bytes of the prompt's text.",
        "type": [
          "integer",
          "null"
        ]
      },
      "max_output": {
        "description": "Output tokens that the client allowed; null when it did not say.",
        "type": [
          "integer",
          "null"
        ]
      },
      "answers": {
        "description": "Answers asked for (n).",
        "type": "integer",
        "minimum": 0
      },
      "asked": {
        "description": "What the request uses of other units, known before it is sent.",
        "$ref": "#/components/schemas/DecisionUnits"
      },
      "estimated": {
        "description": "Tokens as they are held at admission: the prompt's bytes / 4, and max_output where the client said one.",
        "$ref": "#/components/schemas/DecisionEstimate"
      },
      "features": {
        "description": "What the request needs of a model.",
        "type": "array",
        "uniqueItems": true,
        "items": {
          "enum": [
            "tools",
            "vision",
            "audio",
            "documents",
            "json_schema",
            "json_object",
            "reasoning",
            "logprobs"
          ]
        }
      },
      "outcome": {
        "description": "How it ended.",
        "enum": [
          "served",
          "refused",
          "failed",
          "client_fault",
          "upstream_cut",
          "gateway_error",
          "client_gone",
          "killed",
          "shutdown"
        ]
      },
      "status": {
        "description": "Of the answer; 499 for a client that left before one.",
        "type": "integer"
      },
      "code": {
        "description": "The error's code.",
        "type": [
          "string",
          "null"
        ]
      },
      "upstream": {
        "description": "That served.",
        "type": [
          "string",
          "null"
        ]
      },
      "attempts": {
        "description": "In order, those that a guard skipped included.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/DecisionAttempt"
        }
      },
      "dropped": {
        "description": "Fields that the upstream could not be asked.",
        "type": "integer",
        "minimum": 0
      },
      "tokens": {
        "description": "As billed.",
        "$ref": "#/components/schemas/DecisionTokens"
      },
      "tokens_estimated": {
        "description": "Whether tokens were estimated in part.",
        "type": "boolean"
      },
      "charge": {
        "description": "In billing.currency, exact.",
        "type": "string",
        "pattern": "^\\d+(\\.\\d+)?$",
        "examples": [
          "0.00015"
        ]
      },
      "given_back": {
        "description": "Whether the counts of limits were returned.",
        "type": "boolean"
      },
      "body_ms": {
        "description": "For which the body was waited for.",
        "type": [
          "number",
          "null"
        ],
        "minimum": 0
      },
      "first_event_ms": {
        "description": "Until an upstream's answer or the beginning of its stream; from arrival.",
        "type": [
          "number",
          "null"
        ],
        "minimum": 0
      },
      "upstream_ms": {
        "description": "Of upstreams, overlapping attempts counted once.",
        "type": [
          "number",
          "null"
        ],
        "minimum": 0
      },
      "gateway_ms": {
        "description": "The rest: total without body and upstreams.",
        "type": [
          "number",
          "null"
        ],
        "minimum": 0
      },
      "total_ms": {
        "description": "From arrival to the end.",
        "type": "number",
        "minimum": 0
      }
    },
    "required": [
      "v",
      "time",
      "id",
      "request_id",
      "config",
      "endpoint",
      "user",
      "key",
      "plan",
      "model",
      "stream",
      "prompt_bytes",
      "max_output",
      "answers",
      "asked",
      "estimated",
      "features",
      "outcome",
      "status",
      "code",
      "upstream",
      "attempts",
      "dropped",
      "tokens",
      "tokens_estimated",
      "charge",
      "given_back",
      "body_ms",
      "first_event_ms",
      "upstream_ms",
      "gateway_ms",
      "total_ms"
    ]
  },
  "DecisionAttempt": {
    "title": "DecisionAttempt",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "upstream",
      "model",
      "outcome",
      "status",
      "start_ms",
      "answered_ms",
      "end_ms"
    ],
    "properties": {
      "upstream": {
        "description": "Name in the configuration.",
        "type": "string",
        "examples": [
          "alpha"
        ]
      },
      "model": {
        "description": "The upstream's name of the model.",
        "type": "string",
        "examples": [
          "alpha-1"
        ]
      },
      "outcome": {
        "description": "ok, the class of the failure, skipped by a guard such as the breaker, or running: the request ended before the attempt.",
        "type": "string",
        "examples": [
          "ok",
          "timeout",
          "skipped"
        ]
      },
      "status": {
        "description": "The upstream's status where it failed with one, else 0.",
        "type": "integer",
        "minimum": 0
      },
      "start_ms": {
        "description": "Milliseconds from the request's arrival.",
        "type": "number"
      },
      "answered_ms": {
        "description": "When its stream began, or its answer was there; null when neither came.",
        "type": [
          "number",
          "null"
        ],
        "minimum": 0
      },
      "end_ms": {
        "description": "null while it ran.",
        "type": [
          "number",
          "null"
        ],
        "minimum": 0
      }
    }
  },
  "DecisionTokens": {
    "title": "DecisionTokens",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "prompt",
      "completion",
      "cached",
      "reasoning"
    ],
    "properties": {
      "prompt": {
        "description": "Those of a cache included.",
        "type": "integer",
        "minimum": 0
      },
      "completion": {
        "description": "Reasoning included.",
        "type": "integer",
        "minimum": 0
      },
      "cached": {
        "description": "Of prompt, read from a cache.",
        "type": "integer",
        "minimum": 0
      },
      "reasoning": {
        "description": "Of completion.",
        "type": "integer",
        "minimum": 0
      },
      "cache_write": {
        "description": "Of prompt, written to a cache.",
        "type": "integer",
        "minimum": 0
      },
      "cache_write_1h": {
        "description": "Of cache_write, kept for an hour.",
        "type": "integer",
        "minimum": 0
      },
      "characters": {
        "description": "Of speech.",
        "type": "integer",
        "minimum": 0
      },
      "audio_ms": {
        "description": "Milliseconds of audio.",
        "type": "integer",
        "minimum": 0
      },
      "images": {
        "description": "Images.",
        "type": "integer",
        "minimum": 0
      },
      "image_variant": {
        "description": "SIZE/QUALITY by which images are priced.",
        "type": "string",
        "examples": [
          "1024x1024/high"
        ]
      }
    }
  },
  "DecisionUnits": {
    "title": "DecisionUnits",
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "characters": {
        "description": "Of speech.",
        "type": "integer",
        "minimum": 0
      },
      "audio_ms": {
        "description": "Milliseconds of audio.",
        "type": "integer",
        "minimum": 0
      },
      "images": {
        "description": "Images.",
        "type": "integer",
        "minimum": 0
      },
      "image_variant": {
        "description": "SIZE/QUALITY by which images are priced.",
        "type": "string",
        "examples": [
          "1024x1024/high"
        ]
      }
    }
  },
  "DecisionEstimate": {
    "title": "DecisionEstimate",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "prompt",
      "completion"
    ],
    "properties": {
      "prompt": {
        "description": "Tokens.",
        "type": "integer",
        "minimum": 0
      },
      "completion": {
        "description": "null when the client did not say: then billing.hold_output_tokens counts.",
        "type": [
          "integer",
          "null"
        ]
      }
    }
  },
  "AuditQuery": {
    "title": "AuditQuery",
    "description": "Parameters of GET /admin/audit.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "limit": {
        "description": "Entries of a page; 50 when absent.",
        "$ref": "#/components/schemas/PageLimit"
      },
      "cursor": {
        "description": "From next_cursor of the page before.",
        "$ref": "#/components/schemas/PageCursor"
      }
    }
  },
  "AuditPage": {
    "title": "AuditPage",
    "description": "A page of the audit log, the newest first.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "next_cursor"
    ],
    "properties": {
      "data": {
        "description": "The entries.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/AuditEntry"
        }
      },
      "next_cursor": {
        "description": "For the next page; null on the last one.",
        "$ref": "#/components/schemas/NextCursor"
      }
    }
  },
  "AuditEntry": {
    "title": "AuditEntry",
    "description": "A change, a sign-in or an export.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "at",
      "name",
      "role",
      "action",
      "target",
      "details",
      "outcome",
      "status",
      "address",
      "digest",
      "previous",
      "erased"
    ],
    "properties": {
      "id": {
        "description": "Unique.",
        "type": "string"
      },
      "at": {
        "description": "When it came.",
        "type": "string",
        "format": "date-time"
      },
      "name": {
        "description": "The name of the token; cli for the command line, user for a user, empty where nobody is known.",
        "type": "string"
      },
      "role": {
        "description": "The role of the token; user for a user, none for a sign-in that failed.",
        "enum": [
          "viewer",
          "operator",
          "user",
          "none"
        ]
      },
      "action": {
        "description": "`operationId` of the call; signIn, signInFailed, signOut, userSignIn or export.",
        "type": "string"
      },
      "target": {
        "description": "The id or name of what it was about.",
        "type": [
          "string",
          "null"
        ]
      },
      "details": {
        "description": "What was asked for; no secret is among it.",
        "type": "object",
        "additionalProperties": true
      },
      "outcome": {
        "description": "begun: its end was not written, as when the process ended meanwhile.",
        "enum": [
          "begun",
          "done",
          "refused",
          "failed"
        ]
      },
      "status": {
        "description": "Of the answer; null before there is one, and for a command.",
        "type": [
          "integer",
          "null"
        ]
      },
      "address": {
        "description": "The client's IP address; null for a command, and where it was removed with a user's account.",
        "type": [
          "string",
          "null"
        ]
      },
      "digest": {
        "description": "SHA-256 over this entry and `previous`; null until its end is written.",
        "type": [
          "string",
          "null"
        ]
      },
      "previous": {
        "description": "`digest` of the entry before; null for the first one.",
        "type": [
          "string",
          "null"
        ]
      },
      "erased": {
        "description": "Target and details were removed with a user's account.",
        "type": "boolean"
      }
    }
  },
  "ModelListStatus": {
    "title": "ModelListStatus",
    "description": "What one provider listed.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "listed",
      "listed_at",
      "error"
    ],
    "properties": {
      "listed": {
        "description": "Models in the last list, whether or not they are published; null: there is no list yet.",
        "type": [
          "integer",
          "null"
        ],
        "minimum": 1
      },
      "listed_at": {
        "description": "When the provider gave that list; null: there is none yet.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "error": {
        "description": "Why the provider gave no list when it was last asked; null: it gave one.",
        "type": [
          "string",
          "null"
        ]
      }
    }
  },
  "ConfigurationState": {
    "title": "ConfigurationState",
    "description": "The configuration in force.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "generation",
      "hash",
      "file",
      "loaded_at",
      "warnings",
      "pending",
      "last_rejection",
      "passed_over",
      "guard",
      "generations",
      "instances",
      "agree"
    ],
    "properties": {
      "generation": {
        "description": "Counts the changes of the process that answers.",
        "type": "integer",
        "minimum": 1
      },
      "hash": {
        "description": "Of its text and code.",
        "type": "string"
      },
      "file": {
        "description": "Its path.",
        "type": "string"
      },
      "loaded_at": {
        "description": "Since when it serves.",
        "type": "string",
        "format": "date-time"
      },
      "warnings": {
        "description": "What is wrong with it, and lets it serve all the same; users whose plan is not defined among them.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ConfigurationDiagnostic"
        }
      },
      "pending": {
        "description": "Sections that differ from what runs: they need a restart.",
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "model_lists": {
        "description": "The lists of models that providers gave, by upstream: of those that publish models from their list. Absent where none does.",
        "type": "object",
        "additionalProperties": {
          "$ref": "#/components/schemas/ModelListStatus"
        }
      },
      "last_rejection": {
        "description": "Why the file was last refused; null when the last one was taken.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/ConfigurationRejection"
          },
          {
            "type": "null"
          }
        ]
      },
      "passed_over": {
        "description": "The file as it is, while something else serves after a rollback.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/PassedOverFile"
          },
          {
            "type": "null"
          }
        ]
      },
      "guard": {
        "description": "The latest change that served a share of the users first.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/GuardState"
          },
          {
            "type": "null"
          }
        ]
      },
      "generations": {
        "description": "What a rollback can return to, the latest first.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/KeptGeneration"
        }
      },
      "instances": {
        "description": "All that share the store, as far as they are known.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/InstanceGeneration"
        }
      },
      "agree": {
        "description": "Whether they have the same configuration; null when that is not known.",
        "type": [
          "boolean",
          "null"
        ]
      }
    }
  },
  "ConfigurationRejection": {
    "title": "ConfigurationRejection",
    "description": "A file that cannot serve.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "at",
      "diagnostics"
    ],
    "properties": {
      "at": {
        "description": "When it was read.",
        "type": "string",
        "format": "date-time"
      },
      "diagnostics": {
        "description": "What is wrong with it.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ConfigurationDiagnostic"
        }
      }
    }
  },
  "ConfigurationDiagnostic": {
    "title": "ConfigurationDiagnostic",
    "description": "One finding, at a place in a file.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "file",
      "line",
      "column",
      "pointer",
      "rule",
      "severity",
      "message",
      "hint"
    ],
    "properties": {
      "file": {
        "description": "Its path.",
        "type": "string"
      },
      "line": {
        "description": "From 1.",
        "type": "integer",
        "minimum": 1
      },
      "column": {
        "description": "From 1.",
        "type": "integer",
        "minimum": 1
      },
      "endColumn": {
        "description": "After the end, when the place ends on the same line.",
        "type": "integer"
      },
      "pointer": {
        "description": "JSON pointer into the merged configuration; empty for a file as a whole.",
        "type": "string"
      },
      "rule": {
        "description": "See schemas/README.md.",
        "type": "string"
      },
      "severity": {
        "description": "A warning does not keep it from serving. A note is a suggestion.",
        "enum": [
          "error",
          "warning",
          "note"
        ]
      },
      "message": {
        "description": "What is wrong.",
        "type": "string"
      },
      "hint": {
        "description": "What to do about it.",
        "type": [
          "string",
          "null"
        ]
      }
    }
  },
  "PassedOverFile": {
    "title": "PassedOverFile",
    "description": "A file that is not tried again until it changes.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hash",
      "reason",
      "at"
    ],
    "properties": {
      "hash": {
        "description": "Of the file.",
        "type": "string"
      },
      "reason": {
        "description": "Why.",
        "type": "string"
      },
      "at": {
        "description": "Since when.",
        "type": "string",
        "format": "date-time"
      }
    }
  },
  "GuardState": {
    "title": "GuardState",
    "description": "A comparison of two configurations.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "state",
      "base",
      "candidate",
      "share",
      "started_at",
      "ends_at",
      "decided_at",
      "reason",
      "requests",
      "failures",
      "ttft_ratio"
    ],
    "properties": {
      "state": {
        "description": "running, or how it ended.",
        "type": "string"
      },
      "base": {
        "description": "Hash of what served before.",
        "type": "string"
      },
      "candidate": {
        "description": "Hash of what is on trial.",
        "type": "string"
      },
      "share": {
        "description": "Of the users, from 0 to 1.",
        "type": "number"
      },
      "started_at": {
        "description": "null before it has begun.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "ends_at": {
        "description": "When it is decided at the latest.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "decided_at": {
        "description": "null while it runs.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "reason": {
        "description": "Of the decision.",
        "type": [
          "string",
          "null"
        ]
      },
      "requests": {
        "description": "That were counted.",
        "$ref": "#/components/schemas/GuardCounts"
      },
      "failures": {
        "description": "Among them.",
        "$ref": "#/components/schemas/GuardCounts"
      },
      "ttft_ratio": {
        "description": "Time to first token, of the candidate by the base's.",
        "type": [
          "number",
          "null"
        ]
      }
    }
  },
  "GuardCounts": {
    "title": "GuardCounts",
    "description": "Of all instances, as far as they are known.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "base",
      "candidate"
    ],
    "properties": {
      "base": {
        "description": "Of what served before.",
        "type": "integer"
      },
      "candidate": {
        "description": "Of what is on trial.",
        "type": "integer"
      }
    }
  },
  "KeptGeneration": {
    "title": "KeptGeneration",
    "description": "A configuration that has served.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hash",
      "since",
      "serves",
      "by"
    ],
    "properties": {
      "hash": {
        "description": "Of its text and code.",
        "type": "string"
      },
      "since": {
        "description": "When it began to serve.",
        "type": "string",
        "format": "date-time"
      },
      "serves": {
        "description": "Whether it is in force.",
        "type": "boolean"
      },
      "by": {
        "description": "What put it in force; null: a former version of the gateway has not noted it.",
        "enum": [
          "start",
          "file",
          "reload",
          "rollback",
          "guard",
          null
        ]
      }
    }
  },
  "InstanceGeneration": {
    "title": "InstanceGeneration",
    "description": "What one instance serves.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "instance",
      "hash",
      "generation",
      "loaded_at",
      "draining"
    ],
    "properties": {
      "instance": {
        "description": "Its name.",
        "type": "string"
      },
      "hash": {
        "description": "Of its configuration.",
        "type": "string"
      },
      "generation": {
        "description": "Counts its changes.",
        "type": "integer"
      },
      "loaded_at": {
        "description": "Since when.",
        "type": "string",
        "format": "date-time"
      },
      "draining": {
        "description": "Whether it is about to end.",
        "type": "boolean"
      }
    }
  },
  "ConfigurationSource": {
    "title": "ConfigurationSource",
    "description": "What the configuration in force was made of, without its secrets.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hash",
      "files",
      "plugins",
      "code",
      "rejected"
    ],
    "properties": {
      "hash": {
        "description": "Of its text and code.",
        "type": "string"
      },
      "files": {
        "description": "The main file first.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/SourceFile"
        }
      },
      "plugins": {
        "description": "Local plugins.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/SourcePlugin"
        }
      },
      "code": {
        "description": "Digest of every file that the local plugins consist of.",
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "rejected": {
        "description": "The texts that the last rejection is about; null when there is none.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/RejectedSource"
          },
          {
            "type": "null"
          }
        ]
      }
    }
  },
  "SourceFile": {
    "title": "SourceFile",
    "description": "One file, as it is written.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "path",
      "file",
      "value",
      "text"
    ],
    "properties": {
      "path": {
        "description": "From the folder of the main file.",
        "type": "string"
      },
      "file": {
        "description": "The absolute path.",
        "type": "string"
      },
      "value": {
        "description": "References are not resolved, secrets are left out."
      },
      "text": {
        "description": "With the lines and columns of the file; a secret in it is as many dots.",
        "type": "string"
      }
    }
  },
  "SourcePlugin": {
    "title": "SourcePlugin",
    "description": "What the linker has to know of a plugin.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "use",
      "name",
      "stage",
      "needs",
      "schema"
    ],
    "properties": {
      "use": {
        "description": "Its path, as configured.",
        "type": "string"
      },
      "name": {
        "description": "Its name.",
        "type": "string"
      },
      "stage": {
        "description": "Where in the pipeline it works.",
        "type": "string"
      },
      "also": {
        "description": "Further stages that it works in; absent: none.",
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "needs": {
        "description": "Plugins before it.",
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "schema": {
        "description": "Of its options."
      }
    }
  },
  "RollbackRequest": {
    "title": "RollbackRequest",
    "description": "Body of POST /admin/rollback.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "to": {
        "description": "A hash or the beginning of one, or how many generations back; 1 when absent.",
        "type": [
          "string",
          "integer"
        ],
        "minimum": 0,
        "maxLength": 128
      }
    }
  },
  "ConfigurationTaken": {
    "title": "ConfigurationTaken",
    "description": "The change was taken.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "ok",
      "hash"
    ],
    "properties": {
      "ok": {
        "description": "It was.",
        "const": true
      },
      "hash": {
        "description": "Of what serves.",
        "type": "string"
      },
      "guarded": {
        "description": "It serves a share of the users first.",
        "const": true
      },
      "cooldowns_ended": {
        "description": "Cooldowns of upstreams' keys that the reload has ended; absent without any.",
        "type": "integer",
        "minimum": 1
      }
    }
  },
  "ConfigurationRefused": {
    "title": "ConfigurationRefused",
    "description": "The change was not taken: what served before serves on.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "ok",
      "diagnostics"
    ],
    "properties": {
      "ok": {
        "description": "It was not.",
        "const": false
      },
      "diagnostics": {
        "description": "Why.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ConfigurationDiagnostic"
        }
      }
    }
  },
  "RejectedSource": {
    "title": "RejectedSource",
    "description": "Files that cannot serve.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "at",
      "diagnostics",
      "files"
    ],
    "properties": {
      "at": {
        "description": "When they were read.",
        "type": "string",
        "format": "date-time"
      },
      "diagnostics": {
        "description": "What is wrong with them.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ConfigurationDiagnostic"
        }
      },
      "files": {
        "description": "The main file first.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/SourceText"
        }
      }
    }
  },
  "SourceText": {
    "title": "SourceText",
    "description": "One file.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "path",
      "file",
      "text"
    ],
    "properties": {
      "path": {
        "description": "From the folder of the main file.",
        "type": "string"
      },
      "file": {
        "description": "The absolute path.",
        "type": "string"
      },
      "text": {
        "description": "With the lines and columns of the file; a secret in it is as many dots.",
        "type": "string"
      }
    }
  },
  "GenerationList": {
    "title": "GenerationList",
    "description": "The last generations, and what each of them meant.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data"
    ],
    "properties": {
      "data": {
        "description": "The latest first.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/GenerationEffect"
        }
      }
    }
  },
  "GenerationEffect": {
    "title": "GenerationEffect",
    "description": "A configuration that has served.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hash",
      "since",
      "serves",
      "by",
      "effect"
    ],
    "properties": {
      "hash": {
        "description": "Of its text and code.",
        "type": "string"
      },
      "since": {
        "description": "When it began to serve.",
        "type": "string",
        "format": "date-time"
      },
      "serves": {
        "description": "Whether it is in force.",
        "type": "boolean"
      },
      "by": {
        "description": "What put it in force; null: a former version of the gateway has not noted it.",
        "enum": [
          "start",
          "file",
          "reload",
          "rollback",
          "guard",
          null
        ]
      },
      "effect": {
        "description": "Against the one before; null for the oldest, and where either can no longer be read.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/EffectFrom"
          },
          {
            "type": "null"
          }
        ]
      }
    }
  },
  "EffectFrom": {
    "title": "EffectFrom",
    "description": "What it meant to go from one configuration to another.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "from",
      "summary",
      "changes"
    ],
    "properties": {
      "from": {
        "description": "Hash of the one before.",
        "type": "string"
      },
      "summary": {
        "description": "How many of each class.",
        "$ref": "#/components/schemas/EffectSummary"
      },
      "changes": {
        "description": "The worst first, 100 at most.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/EffectChange"
        }
      }
    }
  },
  "EffectSummary": {
    "title": "EffectSummary",
    "description": "Numbers of changes.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "breaking",
      "risky",
      "safe"
    ],
    "properties": {
      "breaking": {
        "description": "Clients notice them as failures.",
        "type": "integer",
        "minimum": 0
      },
      "risky": {
        "description": "They may.",
        "type": "integer",
        "minimum": 0
      },
      "safe": {
        "description": "They do not.",
        "type": "integer",
        "minimum": 0
      }
    }
  },
  "EffectChange": {
    "title": "EffectChange",
    "description": "One change, as `gateway diff` tells it.",
    "type": "object",
    "additionalProperties": true,
    "required": [
      "kind",
      "class"
    ],
    "properties": {
      "kind": {
        "description": "What it is.",
        "type": "string"
      },
      "class": {
        "description": "How bad it may be.",
        "enum": [
          "breaking",
          "risky",
          "safe"
        ]
      }
    }
  },
  "ConfigurationDiffQuery": {
    "title": "ConfigurationDiffQuery",
    "description": "Parameters of GET /admin/config/diff.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "from"
    ],
    "properties": {
      "from": {
        "description": "Hash of a kept generation, or the beginning of one.",
        "type": "string",
        "minLength": 4,
        "maxLength": 64
      },
      "to": {
        "description": "The same; what serves when absent.",
        "type": "string",
        "minLength": 4,
        "maxLength": 64
      }
    }
  },
  "ConfigurationDiffSide": {
    "title": "ConfigurationDiffSide",
    "description": "One of the two.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hash",
      "since",
      "by"
    ],
    "properties": {
      "hash": {
        "description": "Of its text and code.",
        "type": "string"
      },
      "since": {
        "description": "When it began to serve.",
        "type": "string",
        "format": "date-time"
      },
      "by": {
        "description": "What put it in force; null: a former version of the gateway has not noted it.",
        "enum": [
          "start",
          "file",
          "reload",
          "rollback",
          "guard",
          null
        ]
      }
    }
  },
  "ConfigurationDiff": {
    "title": "ConfigurationDiff",
    "description": "What it means to go from one kept generation to another.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "from",
      "to",
      "summary",
      "changes"
    ],
    "properties": {
      "from": {
        "description": "Before.",
        "$ref": "#/components/schemas/ConfigurationDiffSide"
      },
      "to": {
        "description": "After.",
        "$ref": "#/components/schemas/ConfigurationDiffSide"
      },
      "summary": {
        "description": "How many of each class.",
        "$ref": "#/components/schemas/EffectSummary"
      },
      "changes": {
        "description": "The worst first.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/EffectChange"
        }
      }
    }
  },
  "ExplainRequest": {
    "title": "ExplainRequest",
    "description": "Body of POST /admin/explain: about a request that might come, or with `request` about one of the decision log.",
    "oneOf": [
      {
        "$ref": "#/components/schemas/NewRequestQuestion"
      },
      {
        "$ref": "#/components/schemas/PastRequestQuestion"
      }
    ]
  },
  "NewRequestQuestion": {
    "title": "NewRequestQuestion",
    "description": "About a request that might come. One of `tier` and `user` is needed, except where there is only one plan and it may call every model.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "model"
    ],
    "properties": {
      "model": {
        "description": "As a client would ask for it.",
        "type": "string"
      },
      "tier": {
        "description": "The plan; the user's when absent, or the only one.",
        "type": "string"
      },
      "user": {
        "description": "Id or address of whose counters and credits it is to meet; somebody who has used nothing when absent.",
        "type": "string"
      },
      "key": {
        "description": "Id of an API key of the user's that it would be sent with.",
        "type": "string"
      },
      "endpoint": {
        "description": "Where it would be sent; where the model's kind is served when absent.",
        "$ref": "#/components/schemas/InferenceEndpoint"
      },
      "stream": {
        "description": "Whether a stream is asked for.",
        "type": "boolean"
      },
      "body": {
        "description": "Over the least body that the endpoint takes.",
        "type": "object",
        "additionalProperties": true
      },
      "down": {
        "description": "Upstreams as if they could not be reached.",
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "open": {
        "description": "Upstreams as if their breakers were open, besides those that are.",
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "prompt_tokens": {
        "description": "What the upstream will have counted of the prompt; by its size when absent.",
        "type": "integer",
        "minimum": 0,
        "maximum": 1000000
      },
      "output_tokens": {
        "description": "What the upstream will have counted of the answer; what is held when absent.",
        "type": "integer",
        "minimum": 0,
        "maximum": 1000000
      }
    }
  },
  "PastRequestQuestion": {
    "title": "PastRequestQuestion",
    "description": "About a request of the decision log, which says what it was.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "request"
    ],
    "properties": {
      "request": {
        "description": "The id of a request, or its X-Request-Id.",
        "type": "string",
        "pattern": "."
      },
      "tier": {
        "description": "The plan; that of the time when absent.",
        "type": "string"
      },
      "down": {
        "description": "Upstreams as if they could not be reached.",
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "open": {
        "description": "Upstreams as if their breakers were open, besides those that were left out then.",
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    }
  },
  "InferenceEndpoint": {
    "title": "InferenceEndpoint",
    "description": "The gateway's name of an endpoint that models serve.",
    "enum": [
      "chat",
      "messages",
      "responses",
      "embeddings",
      "rerank",
      "speech",
      "transcription",
      "image"
    ]
  },
  "ExplainAnswer": {
    "title": "ExplainAnswer",
    "description": "To either question.",
    "anyOf": [
      {
        "$ref": "#/components/schemas/Explanation"
      },
      {
        "$ref": "#/components/schemas/PastExplanation"
      }
    ]
  },
  "Explanation": {
    "title": "Explanation",
    "description": "What would become of a request, and why. Amounts of money are decimals.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "request",
      "answer",
      "stages",
      "chain",
      "limits",
      "credits",
      "charge"
    ],
    "properties": {
      "request": {
        "description": "What it would be.",
        "$ref": "#/components/schemas/ExplainedSubject"
      },
      "answer": {
        "description": "What a client would get.",
        "$ref": "#/components/schemas/ExplainedAnswer"
      },
      "stages": {
        "description": "The pipeline's steps, in order.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ExplainedStage"
        }
      },
      "chain": {
        "description": "The model's chain, in order.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ExplainedStep"
        }
      },
      "limits": {
        "description": "As they would be after it.",
        "$ref": "#/components/schemas/ExplainedLimits"
      },
      "credits": {
        "description": "As they are before it.",
        "$ref": "#/components/schemas/ExplainedCredits"
      },
      "charge": {
        "description": "What is to be expected of it.",
        "$ref": "#/components/schemas/ExplainedCharge"
      }
    }
  },
  "ExplainedSubject": {
    "title": "ExplainedSubject",
    "description": "A request, with what stands in for what was left out.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "model",
      "kind",
      "endpoint",
      "stream",
      "tier",
      "user",
      "at",
      "hash"
    ],
    "properties": {
      "model": {
        "description": "As it is asked for.",
        "type": "string"
      },
      "kind": {
        "description": "Of the model.",
        "enum": [
          "chat",
          "embedding",
          "rerank",
          "speech",
          "transcription",
          "image"
        ]
      },
      "endpoint": {
        "description": "Where it is sent.",
        "$ref": "#/components/schemas/InferenceEndpoint"
      },
      "stream": {
        "description": "Whether a stream is asked for.",
        "type": "boolean"
      },
      "tier": {
        "description": "The plan.",
        "type": "string"
      },
      "user": {
        "description": "Id; null: nobody in particular.",
        "type": [
          "string",
          "null"
        ]
      },
      "at": {
        "description": "When it would come.",
        "type": "string",
        "format": "date-time"
      },
      "hash": {
        "description": "Of the configuration that decides.",
        "type": "string"
      }
    }
  },
  "ExplainedAnswer": {
    "title": "ExplainedAnswer",
    "description": "What a client would get.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "status",
      "code",
      "outcome",
      "upstream",
      "headers",
      "message",
      "took_ms"
    ],
    "properties": {
      "status": {
        "description": "Of the answer; 0: the connection ends before one.",
        "type": "integer",
        "minimum": 0
      },
      "code": {
        "description": "The error's code.",
        "type": [
          "string",
          "null"
        ]
      },
      "outcome": {
        "description": "How it would end.",
        "enum": [
          "served",
          "refused",
          "failed",
          "client_fault",
          "upstream_cut",
          "gateway_error",
          "client_gone",
          "killed",
          "shutdown"
        ]
      },
      "upstream": {
        "description": "That serves; null: none.",
        "type": [
          "string",
          "null"
        ]
      },
      "headers": {
        "description": "By name, in lower case.",
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "message": {
        "description": "Of a refusal or failure; else empty.",
        "type": "string"
      },
      "took_ms": {
        "description": "Until the answer's end.",
        "type": "number",
        "minimum": 0
      }
    }
  },
  "ExplainedStage": {
    "title": "ExplainedStage",
    "description": "One step of the pipeline.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "stage",
      "plugin",
      "decision",
      "reason"
    ],
    "properties": {
      "stage": {
        "description": "Where in the pipeline it works.",
        "enum": [
          "identify",
          "admit",
          "guard",
          "transform",
          "relay",
          "account"
        ]
      },
      "plugin": {
        "description": "Its name.",
        "type": "string"
      },
      "decision": {
        "description": "changed: it went on with another call or body; answered: in an upstream's stead; failed: it threw.",
        "enum": [
          "passed",
          "changed",
          "answered",
          "skipped",
          "refused",
          "failed",
          "does not apply",
          "not reached",
          "nothing to decide"
        ]
      },
      "reason": {
        "description": "Why; empty where there is nothing to say.",
        "type": "string"
      }
    }
  },
  "ExplainedStep": {
    "title": "ExplainedStep",
    "description": "One place of a chain.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "balance",
      "targets"
    ],
    "properties": {
      "balance": {
        "description": "How its targets share.",
        "enum": [
          "single",
          "weighted",
          "latency",
          "sticky"
        ]
      },
      "targets": {
        "description": "In the order in which they are tried, then those that are not.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ExplainedTarget"
        }
      }
    }
  },
  "ExplainedTarget": {
    "title": "ExplainedTarget",
    "description": "A model of an upstream.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "upstream",
      "model",
      "dialect",
      "decision",
      "reason",
      "requests",
      "took_ms",
      "dropped",
      "lost_features"
    ],
    "properties": {
      "upstream": {
        "description": "Its name.",
        "type": "string"
      },
      "model": {
        "description": "The upstream's name of the model.",
        "type": "string"
      },
      "dialect": {
        "description": "The wire format.",
        "type": "string"
      },
      "decision": {
        "description": "What becomes of it.",
        "enum": [
          "served",
          "failed",
          "skipped",
          "not tried"
        ]
      },
      "reason": {
        "description": "Why; empty for the one that serves.",
        "type": "string"
      },
      "requests": {
        "description": "That it is sent, retries included.",
        "type": "integer",
        "minimum": 0
      },
      "took_ms": {
        "description": "For which it is waited for.",
        "type": "number",
        "minimum": 0
      },
      "dropped": {
        "description": "JSON pointers of what its dialect cannot be told of the body.",
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "lost_features": {
        "description": "What its dialect cannot be told of what the model promises.",
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    }
  },
  "ExplainedLimits": {
    "title": "ExplainedLimits",
    "description": "Of the plan, with what the user has used.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "day",
      "hour",
      "minute",
      "streams"
    ],
    "properties": {
      "day": {
        "description": "A calendar day.",
        "$ref": "#/components/schemas/ExplainedWindow"
      },
      "hour": {
        "description": "A calendar hour.",
        "$ref": "#/components/schemas/ExplainedWindow"
      },
      "minute": {
        "description": "A calendar minute.",
        "$ref": "#/components/schemas/ExplainedWindow"
      },
      "streams": {
        "description": "That run before it.",
        "$ref": "#/components/schemas/AdminUserStreams"
      }
    }
  },
  "ExplainedWindow": {
    "title": "ExplainedWindow",
    "description": "One window.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "limit",
      "used",
      "left",
      "resets_at"
    ],
    "properties": {
      "limit": {
        "description": "What the plan allows; null: no limit.",
        "type": [
          "integer",
          "null"
        ]
      },
      "used": {
        "description": "This request included, as far as it counts.",
        "type": "integer"
      },
      "left": {
        "description": "Of the limit; null: no limit.",
        "type": [
          "integer",
          "null"
        ]
      },
      "resets_at": {
        "description": "When the next one begins.",
        "type": "string",
        "format": "date-time"
      }
    }
  },
  "ExplainedCredits": {
    "title": "ExplainedCredits",
    "description": "Of the user.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "currency",
      "balance",
      "held",
      "enforced",
      "hold"
    ],
    "properties": {
      "currency": {
        "description": "Of all amounts.",
        "type": "string"
      },
      "balance": {
        "description": "null: nobody in particular, with enough of it.",
        "type": [
          "string",
          "null"
        ]
      },
      "held": {
        "description": "By requests that run; null as the balance.",
        "type": [
          "string",
          "null"
        ]
      },
      "enforced": {
        "description": "false: charges are recorded, nobody is refused for credits.",
        "type": "boolean"
      },
      "hold": {
        "description": "By this request, while it runs.",
        "type": "string"
      }
    }
  },
  "ExplainedCharge": {
    "title": "ExplainedCharge",
    "description": "What is charged when upstreams count as is said, or as is held.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "expected",
      "usage",
      "estimated"
    ],
    "properties": {
      "expected": {
        "description": "The amount.",
        "type": "string"
      },
      "usage": {
        "description": "As billed.",
        "$ref": "#/components/schemas/DecisionTokens"
      },
      "estimated": {
        "description": "Whether tokens are estimated in part.",
        "type": "boolean"
      }
    }
  },
  "PastExplanation": {
    "title": "PastExplanation",
    "description": "A request of the decision log: what was decided then, and what would be now.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "before",
      "now",
      "differences",
      "notes"
    ],
    "properties": {
      "before": {
        "description": "Its line of the log.",
        "$ref": "#/components/schemas/Decision"
      },
      "now": {
        "description": "null: nothing of this configuration can be asked.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/Explanation"
          },
          {
            "type": "null"
          }
        ]
      },
      "differences": {
        "description": "Between then and now.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ExplainedDifference"
        }
      },
      "notes": {
        "description": "What is not known, and what stands in for it.",
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    }
  },
  "ExplainedDifference": {
    "title": "ExplainedDifference",
    "description": "What is decided in another way.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "what",
      "before",
      "now"
    ],
    "properties": {
      "what": {
        "description": "result: status and code, or how it ends.",
        "enum": [
          "result",
          "upstream",
          "charge"
        ]
      },
      "before": {
        "description": "Then.",
        "type": "string"
      },
      "now": {
        "description": "Now.",
        "type": "string"
      }
    }
  },
  "LedgerQuery": {
    "title": "LedgerQuery",
    "description": "Parameters of GET /admin/ledger.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "user": {
        "description": "Id of a user.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "key": {
        "description": "Id of an API key.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "model": {
        "description": "Route id of a model.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "upstream": {
        "description": "Name of an upstream.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "outcome": {
        "description": "How requests ended.",
        "enum": [
          "served",
          "refused",
          "failed",
          "client_fault",
          "upstream_cut",
          "gateway_error",
          "client_gone",
          "killed",
          "shutdown"
        ]
      },
      "tag": {
        "description": "`name:value` of a tag.",
        "type": "string",
        "pattern": "^[^:]+:",
        "maxLength": 600
      },
      "request_id": {
        "description": "Of one request.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "from": {
        "description": "Recorded at this time or later; of a date, at its beginning in UTC.",
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"
      },
      "to": {
        "description": "Recorded before.",
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"
      },
      "limit": {
        "description": "Entries of a page; 50 when absent.",
        "type": "integer",
        "minimum": 1,
        "maximum": 1000
      },
      "cursor": {
        "description": "From next_cursor of the page before, with the same filter.",
        "$ref": "#/components/schemas/PageCursor"
      }
    }
  },
  "LedgerExportQuery": {
    "title": "LedgerExportQuery",
    "description": "Parameters of GET /admin/ledger/export.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "format": {
        "description": "`ndjson` when absent: an entry of GET /admin/ledger a line.",
        "enum": [
          "ndjson",
          "csv"
        ]
      },
      "user": {
        "description": "Id of a user.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "key": {
        "description": "Id of an API key.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "model": {
        "description": "Route id of a model.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "upstream": {
        "description": "Name of an upstream.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "outcome": {
        "description": "How requests ended.",
        "enum": [
          "served",
          "refused",
          "failed",
          "client_fault",
          "upstream_cut",
          "gateway_error",
          "client_gone",
          "killed",
          "shutdown"
        ]
      },
      "tag": {
        "description": "`name:value` of a tag.",
        "type": "string",
        "pattern": "^[^:]+:",
        "maxLength": 600
      },
      "request_id": {
        "description": "Of one request.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "from": {
        "description": "Recorded at this time or later; of a date, at its beginning in UTC.",
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"
      },
      "to": {
        "description": "Recorded before.",
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"
      }
    }
  },
  "LedgerPage": {
    "title": "LedgerPage",
    "description": "A page of the ledger, the last recorded first.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "next_cursor"
    ],
    "properties": {
      "data": {
        "description": "May be shorter than the limit, or empty, though another page follows.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/LedgerEntry"
        }
      },
      "next_cursor": {
        "description": "For the next page; null on the last one.",
        "$ref": "#/components/schemas/NextCursor"
      }
    }
  },
  "LedgerEntry": {
    "title": "LedgerEntry",
    "description": "What one request used and cost.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "request_id",
      "user_id",
      "key_id",
      "model",
      "upstream",
      "tier",
      "outcome",
      "estimated",
      "usage",
      "cost",
      "tags",
      "received_at",
      "ended_at",
      "recorded_at",
      "duration_ms"
    ],
    "properties": {
      "id": {
        "description": "Unique.",
        "type": "string"
      },
      "request_id": {
        "description": "As the answer's `X-Request-Id`.",
        "type": "string"
      },
      "user_id": {
        "description": "Whose it is.",
        "type": "string"
      },
      "key_id": {
        "description": "The API key; null for a call with an access token.",
        "type": [
          "string",
          "null"
        ]
      },
      "model": {
        "description": "Its route id.",
        "type": "string"
      },
      "upstream": {
        "description": "The provider that served; null when none did.",
        "type": [
          "string",
          "null"
        ]
      },
      "tier": {
        "description": "The plan at the time; null where it is not known.",
        "type": [
          "string",
          "null"
        ]
      },
      "outcome": {
        "description": "How the request ended.",
        "enum": [
          "served",
          "refused",
          "failed",
          "client_fault",
          "upstream_cut",
          "gateway_error",
          "client_gone",
          "killed",
          "shutdown"
        ]
      },
      "estimated": {
        "description": "Whether tokens were counted by the gateway, as the provider had not.",
        "type": "boolean"
      },
      "usage": {
        "description": "What it used.",
        "$ref": "#/components/schemas/LedgerUsage"
      },
      "cost": {
        "description": "Credits charged.",
        "type": "string",
        "pattern": "^-?\\d+(\\.\\d+)?$"
      },
      "tags": {
        "description": "Of the request and its key.",
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "received_at": {
        "description": "When the request came.",
        "type": "string",
        "format": "date-time"
      },
      "ended_at": {
        "description": "When it ended.",
        "type": "string",
        "format": "date-time"
      },
      "recorded_at": {
        "description": "When it was charged: the order of the list, and what from and to go by.",
        "type": "string",
        "format": "date-time"
      },
      "duration_ms": {
        "description": "From its coming to its end.",
        "type": "integer",
        "minimum": 0
      }
    }
  },
  "LedgerUsage": {
    "title": "LedgerUsage",
    "description": "What was used.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "prompt_tokens",
      "completion_tokens",
      "cached_tokens",
      "reasoning_tokens"
    ],
    "properties": {
      "prompt_tokens": {
        "description": "Tokens of what was asked.",
        "type": "integer",
        "minimum": 0
      },
      "completion_tokens": {
        "description": "Tokens of the answer.",
        "type": "integer",
        "minimum": 0
      },
      "cached_tokens": {
        "description": "Of the prompt's: read from a cache.",
        "type": "integer",
        "minimum": 0
      },
      "reasoning_tokens": {
        "description": "Of the answer's: spent on reasoning.",
        "type": "integer",
        "minimum": 0
      },
      "characters": {
        "description": "Of a speech; left out when there are none.",
        "type": "integer",
        "minimum": 0
      },
      "audio_ms": {
        "description": "Length of what was transcribed; left out when there is none.",
        "type": "integer",
        "minimum": 0
      },
      "images": {
        "description": "Images made; left out when there are none.",
        "type": "integer",
        "minimum": 0
      },
      "cache_write_tokens": {
        "description": "Written to a cache; left out when there are none.",
        "type": "integer",
        "minimum": 0
      },
      "cache_write_1h_tokens": {
        "description": "Of them: for an hour; left out when there are none.",
        "type": "integer",
        "minimum": 0
      }
    }
  },
  "UsageQuery": {
    "title": "UsageQuery",
    "description": "Parameters of GET /admin/usage.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "per": {
        "description": "`day` when absent.",
        "enum": [
          "hour",
          "day"
        ]
      },
      "by": {
        "description": "What has a row of its own, with commas: model, upstream, tier, user, key. Nothing when absent: one row an hour or day.",
        "type": "string",
        "pattern": "^(model|upstream|tier|user|key)(,(model|upstream|tier|user|key))*$",
        "maxLength": 64
      },
      "from": {
        "description": "Of hours or days that begin then or later; 30 days ago when absent.",
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"
      },
      "to": {
        "description": "Of those that begin before; now when absent.",
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$"
      },
      "user": {
        "description": "Id of a user.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "key": {
        "description": "Id of an API key.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "model": {
        "description": "Route id of a model.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "upstream": {
        "description": "Name of an upstream.",
        "type": "string",
        "minLength": 1,
        "maxLength": 256
      },
      "limit": {
        "description": "Rows of a page; 50 when absent.",
        "type": "integer",
        "minimum": 1,
        "maximum": 1000
      },
      "cursor": {
        "description": "From next_cursor of the page before, with the same filter.",
        "$ref": "#/components/schemas/PageCursor"
      }
    }
  },
  "UsagePage": {
    "title": "UsagePage",
    "description": "A page of usage, the latest day first.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "next_cursor"
    ],
    "properties": {
      "data": {
        "description": "May be shorter than the limit, or empty, though another page follows.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/UsageRow"
        }
      },
      "next_cursor": {
        "description": "For the next page; null on the last one.",
        "$ref": "#/components/schemas/NextCursor"
      }
    }
  },
  "UsageRow": {
    "title": "UsageRow",
    "description": "What was recorded in an hour or a day.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "start",
      "requests",
      "failed",
      "prompt_tokens",
      "completion_tokens",
      "cached_tokens",
      "reasoning_tokens",
      "cost"
    ],
    "properties": {
      "start": {
        "description": "Of the hour or day, in UTC.",
        "type": "string",
        "format": "date-time"
      },
      "model": {
        "description": "When asked for by model.",
        "type": "string"
      },
      "upstream": {
        "description": "When asked for by upstream; null: none served.",
        "type": [
          "string",
          "null"
        ]
      },
      "tier": {
        "description": "When asked for by tier; null: not known.",
        "type": [
          "string",
          "null"
        ]
      },
      "user_id": {
        "description": "When asked for by user or key.",
        "type": "string"
      },
      "key_id": {
        "description": "When asked for by key; null: access tokens.",
        "type": [
          "string",
          "null"
        ]
      },
      "requests": {
        "description": "Requests recorded.",
        "type": "integer",
        "minimum": 0
      },
      "failed": {
        "description": "Of them: those that no provider served, or that it or the gateway broke off.",
        "type": "integer",
        "minimum": 0
      },
      "prompt_tokens": {
        "description": "Tokens of what was asked.",
        "type": "integer",
        "minimum": 0
      },
      "completion_tokens": {
        "description": "Tokens of the answers.",
        "type": "integer",
        "minimum": 0
      },
      "cached_tokens": {
        "description": "Of the prompts': read from a cache.",
        "type": "integer",
        "minimum": 0
      },
      "reasoning_tokens": {
        "description": "Of the answers': spent on reasoning.",
        "type": "integer",
        "minimum": 0
      },
      "cost": {
        "description": "Credits charged.",
        "type": "string",
        "pattern": "^-?\\d+(\\.\\d+)?$"
      }
    }
  },
  "PageLimit": {
    "title": "PageLimit",
    "description": "Entries of a page; 50 when absent.",
    "type": "integer",
    "minimum": 1,
    "maximum": 200
  },
  "PageCursor": {
    "title": "PageCursor",
    "description": "From next_cursor of the page before.",
    "type": "string",
    "minLength": 1,
    "maxLength": 512
  },
  "NextCursor": {
    "title": "NextCursor",
    "description": "For the next page; null on the last one.",
    "type": [
      "string",
      "null"
    ]
  },
  "Percentiles": {
    "title": "Percentiles",
    "description": "Milliseconds; null where nothing was measured.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "p50",
      "p95"
    ],
    "properties": {
      "p50": {
        "description": "Half took no longer.",
        "type": [
          "number",
          "null"
        ]
      },
      "p95": {
        "description": "19 of 20 took no longer.",
        "type": [
          "number",
          "null"
        ]
      }
    }
  },
  "ModelList": {
    "title": "ModelList",
    "description": "What each model's chain did, since each of the processes of this listener started.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hash",
      "data"
    ],
    "properties": {
      "hash": {
        "description": "Of the configuration in force.",
        "type": "string"
      },
      "data": {
        "description": "In the order of the configuration.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ModelOperation"
        }
      }
    }
  },
  "ModelOperation": {
    "title": "ModelOperation",
    "description": "A published model.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "kind",
      "served",
      "duration_ms",
      "chain"
    ],
    "properties": {
      "id": {
        "description": "As clients ask for it.",
        "type": "string"
      },
      "kind": {
        "description": "What it does.",
        "type": "string"
      },
      "served": {
        "description": "Attempts that served, at all targets.",
        "type": "integer",
        "minimum": 0
      },
      "duration_ms": {
        "description": "From the arrival of a request to the end of its answer.",
        "$ref": "#/components/schemas/Percentiles"
      },
      "chain": {
        "description": "In the order in which they are tried.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ModelStep"
        }
      }
    }
  },
  "ModelStep": {
    "title": "ModelStep",
    "description": "A step of a chain.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "balance",
      "share",
      "targets"
    ],
    "properties": {
      "balance": {
        "description": "How its targets share.",
        "type": "string"
      },
      "share": {
        "description": "Of what the chain served, from 0 to 1; null before it has served.",
        "type": [
          "number",
          "null"
        ]
      },
      "targets": {
        "description": "Of the step.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/ModelTarget"
        }
      }
    }
  },
  "ModelTarget": {
    "title": "ModelTarget",
    "description": "An upstream, and the model's name there.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "upstream",
      "model",
      "weight",
      "breaker",
      "can_serve",
      "manual",
      "attempts",
      "served",
      "failed",
      "share",
      "ttft_ms"
    ],
    "properties": {
      "upstream": {
        "description": "Its name.",
        "type": "string"
      },
      "model": {
        "description": "The model's name there.",
        "type": "string"
      },
      "weight": {
        "description": "Of weighted steps.",
        "type": "number"
      },
      "breaker": {
        "description": "Of the process that answers.",
        "$ref": "#/components/schemas/BreakerState"
      },
      "can_serve": {
        "description": "Whether requests are sent to it.",
        "type": "boolean"
      },
      "manual": {
        "description": "What an operator has set; null: nothing.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/UpstreamManual"
          },
          {
            "type": "null"
          }
        ]
      },
      "attempts": {
        "description": "That have ended.",
        "type": "integer",
        "minimum": 0
      },
      "served": {
        "description": "Among them.",
        "type": "integer",
        "minimum": 0
      },
      "failed": {
        "description": "By a fault of the upstream.",
        "type": "integer",
        "minimum": 0
      },
      "share": {
        "description": "Of what the chain served, from 0 to 1; null before it has served.",
        "type": [
          "number",
          "null"
        ]
      },
      "ttft_ms": {
        "description": "To the first token, of the model at this upstream.",
        "$ref": "#/components/schemas/Percentiles"
      }
    }
  },
  "InstanceList": {
    "title": "InstanceList",
    "description": "All that share the store, as far as they are known.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "agree",
      "complete"
    ],
    "properties": {
      "data": {
        "description": "By name.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/Instance"
        }
      },
      "agree": {
        "description": "Whether all that serve have the same configuration; null when that is not known.",
        "type": [
          "boolean",
          "null"
        ]
      },
      "complete": {
        "description": "Whether these are all of them.",
        "type": "boolean"
      }
    }
  },
  "Instance": {
    "title": "Instance",
    "description": "One process.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "instance",
      "host",
      "pid",
      "started_at",
      "hash",
      "generation",
      "loaded_at",
      "draining",
      "streams",
      "shedding"
    ],
    "properties": {
      "instance": {
        "description": "Its name.",
        "type": "string"
      },
      "host": {
        "description": "Where it runs.",
        "type": "string"
      },
      "pid": {
        "description": "Of the process.",
        "type": "integer"
      },
      "started_at": {
        "description": "When it started.",
        "type": "string",
        "format": "date-time"
      },
      "hash": {
        "description": "Of its configuration.",
        "type": "string"
      },
      "generation": {
        "description": "Counts its changes.",
        "type": "integer"
      },
      "loaded_at": {
        "description": "Since when it serves it.",
        "type": "string",
        "format": "date-time"
      },
      "draining": {
        "description": "Whether it is about to end.",
        "type": "boolean"
      },
      "streams": {
        "description": "Streamed answers under way.",
        "type": "integer",
        "minimum": 0
      },
      "shedding": {
        "description": "Plans of which it refuses new requests, being overloaded.",
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    }
  },
  "PluginList": {
    "title": "PluginList",
    "description": "The pipeline in force; counts are since each of the processes of this listener started.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hash",
      "data"
    ],
    "properties": {
      "hash": {
        "description": "Of the configuration in force.",
        "type": "string"
      },
      "data": {
        "description": "In the order in which they run.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/PluginOperation"
        }
      }
    }
  },
  "PluginOperation": {
    "title": "PluginOperation",
    "description": "A step of the pipeline.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "plugin",
      "stage",
      "use",
      "failures",
      "hooks"
    ],
    "properties": {
      "plugin": {
        "description": "Its name.",
        "type": "string"
      },
      "stage": {
        "description": "Where in the pipeline it works.",
        "type": "string"
      },
      "use": {
        "description": "As it is configured.",
        "type": "string"
      },
      "failures": {
        "description": "Hooks that threw.",
        "type": "integer",
        "minimum": 0
      },
      "hooks": {
        "description": "That were called.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/HookTimes"
        }
      }
    }
  },
  "HookTimes": {
    "title": "HookTimes",
    "description": "Calls of one hook.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "hook",
      "calls",
      "total_ms",
      "p50",
      "p95"
    ],
    "properties": {
      "hook": {
        "description": "Its name.",
        "type": "string"
      },
      "calls": {
        "description": "How many.",
        "type": "integer",
        "minimum": 0
      },
      "total_ms": {
        "description": "Together.",
        "type": "number"
      },
      "p50": {
        "description": "Milliseconds that half took at most.",
        "type": [
          "number",
          "null"
        ]
      },
      "p95": {
        "description": "The same of 19 of 20.",
        "type": [
          "number",
          "null"
        ]
      }
    }
  },
  "Figure": {
    "title": "Figure",
    "description": "One second, of all processes of this listener.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "at",
      "requests_per_second",
      "in_flight",
      "streams",
      "errors",
      "ttft_ms",
      "overhead_ms",
      "spend_per_second"
    ],
    "properties": {
      "at": {
        "description": "Its end.",
        "type": "string",
        "format": "date-time"
      },
      "requests_per_second": {
        "description": "That ended in it.",
        "type": "integer",
        "minimum": 0
      },
      "in_flight": {
        "description": "Requests under way at its end.",
        "type": "integer",
        "minimum": 0
      },
      "streams": {
        "description": "Streamed answers under way at its end.",
        "type": "integer",
        "minimum": 0
      },
      "errors": {
        "description": "Requests that failed in it, by code.",
        "type": "object",
        "additionalProperties": {
          "type": "integer"
        }
      },
      "ttft_ms": {
        "description": "From a request's arrival to the first token.",
        "$ref": "#/components/schemas/Percentiles"
      },
      "overhead_ms": {
        "description": "The gateway's own part of requests that an upstream served.",
        "$ref": "#/components/schemas/Percentiles"
      },
      "spend_per_second": {
        "description": "Charged in it, in the configured currency.",
        "type": "string"
      }
    }
  },
  "FigureEvent": {
    "title": "FigureEvent",
    "description": "`data` of an event: the latest second, and how everything is.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "at",
      "requests_per_second",
      "in_flight",
      "streams",
      "errors",
      "ttft_ms",
      "overhead_ms",
      "spend_per_second",
      "upstreams",
      "config",
      "instances"
    ],
    "properties": {
      "at": {
        "description": "Its end.",
        "type": "string",
        "format": "date-time"
      },
      "requests_per_second": {
        "description": "That ended in it.",
        "type": "integer",
        "minimum": 0
      },
      "in_flight": {
        "description": "Requests under way at its end.",
        "type": "integer",
        "minimum": 0
      },
      "streams": {
        "description": "Streamed answers under way at its end.",
        "type": "integer",
        "minimum": 0
      },
      "errors": {
        "description": "Requests that failed in it, by code.",
        "type": "object",
        "additionalProperties": {
          "type": "integer"
        }
      },
      "ttft_ms": {
        "description": "From a request's arrival to the first token.",
        "$ref": "#/components/schemas/Percentiles"
      },
      "overhead_ms": {
        "description": "The gateway's own part of requests that an upstream served.",
        "$ref": "#/components/schemas/Percentiles"
      },
      "spend_per_second": {
        "description": "Charged in it, in the configured currency.",
        "type": "string"
      },
      "upstreams": {
        "description": "By name.",
        "type": "object",
        "additionalProperties": {
          "$ref": "#/components/schemas/FigureUpstream"
        }
      },
      "config": {
        "description": "What serves.",
        "$ref": "#/components/schemas/FigureConfig"
      },
      "instances": {
        "description": "Those of the store.",
        "$ref": "#/components/schemas/FigureInstances"
      }
    }
  },
  "FigureUpstream": {
    "title": "FigureUpstream",
    "description": "An upstream.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "state",
      "health",
      "manual"
    ],
    "properties": {
      "state": {
        "description": "Of its breakers the one that is worst off.",
        "$ref": "#/components/schemas/BreakerState"
      },
      "health": {
        "description": "Of the latest requests.",
        "enum": [
          "healthy",
          "degraded",
          "unknown"
        ]
      },
      "manual": {
        "description": "What an operator has set; null: nothing.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/UpstreamManual"
          },
          {
            "type": "null"
          }
        ]
      }
    }
  },
  "FigureConfig": {
    "title": "FigureConfig",
    "description": "The configuration in force.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "generation",
      "hash",
      "loaded_at",
      "last_rejection",
      "guard"
    ],
    "properties": {
      "generation": {
        "description": "Counts its changes.",
        "type": "integer"
      },
      "hash": {
        "description": "Of its text and code.",
        "type": "string"
      },
      "loaded_at": {
        "description": "Since when it serves.",
        "type": "string",
        "format": "date-time"
      },
      "last_rejection": {
        "description": "The file that was refused last; null when the last one was taken.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/FigureRejection"
          },
          {
            "type": "null"
          }
        ]
      },
      "guard": {
        "description": "The latest change that served a share of the users first.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/GuardState"
          },
          {
            "type": "null"
          }
        ]
      }
    }
  },
  "FigureRejection": {
    "title": "FigureRejection",
    "description": "A file that cannot serve; its findings are in GET /admin/config.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "at",
      "errors"
    ],
    "properties": {
      "at": {
        "description": "When it was read.",
        "type": "string",
        "format": "date-time"
      },
      "errors": {
        "description": "How many.",
        "type": "integer",
        "minimum": 0
      }
    }
  },
  "FigureInstances": {
    "title": "FigureInstances",
    "description": "All that share the store.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "count",
      "agree"
    ],
    "properties": {
      "count": {
        "description": "As far as they are known.",
        "type": "integer",
        "minimum": 0
      },
      "agree": {
        "description": "Whether they have the same configuration; null when that is not known.",
        "type": [
          "boolean",
          "null"
        ]
      }
    }
  },
  "FigureSeries": {
    "title": "FigureSeries",
    "description": "The last 15 minutes, and how everything is.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "upstreams",
      "config",
      "instances"
    ],
    "properties": {
      "data": {
        "description": "Seconds, oldest first.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/Figure"
        }
      },
      "upstreams": {
        "description": "By name.",
        "type": "object",
        "additionalProperties": {
          "$ref": "#/components/schemas/FigureUpstream"
        }
      },
      "config": {
        "description": "What serves.",
        "$ref": "#/components/schemas/FigureConfig"
      },
      "instances": {
        "description": "Those of the store.",
        "$ref": "#/components/schemas/FigureInstances"
      }
    }
  },
  "Live": {
    "title": "Live",
    "description": "The process runs.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "status"
    ],
    "properties": {
      "status": {
        "description": "It does.",
        "const": "live"
      }
    }
  },
  "Ready": {
    "title": "Ready",
    "description": "It can serve.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "status"
    ],
    "properties": {
      "status": {
        "description": "It can.",
        "const": "ready"
      }
    }
  },
  "Unavailable": {
    "title": "Unavailable",
    "description": "It cannot serve.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "status",
      "reasons"
    ],
    "properties": {
      "status": {
        "description": "It cannot.",
        "const": "unavailable"
      },
      "reasons": {
        "description": "Why.",
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    }
  },
  "AdminSessionRequest": {
    "title": "AdminSessionRequest",
    "description": "Body of POST /admin/session.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "token"
    ],
    "properties": {
      "token": {
        "description": "One of the tokens of server.admin.",
        "type": "string",
        "minLength": 1,
        "maxLength": 4096
      }
    }
  },
  "AdminSession": {
    "title": "AdminSession",
    "description": "Who calls.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "name",
      "role",
      "expires_at"
    ],
    "properties": {
      "name": {
        "description": "Of the token in server.admin.tokens; admin for server.admin.token.",
        "type": "string"
      },
      "role": {
        "description": "What it may do.",
        "$ref": "#/components/schemas/AdminRole"
      },
      "expires_at": {
        "description": "When the cookie ends; null for a call with the token itself.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      }
    }
  },
  "AdminRole": {
    "title": "AdminRole",
    "description": "A viewer changes nothing.",
    "enum": [
      "viewer",
      "operator"
    ]
  },
  "UnstoredSettlements": {
    "title": "UnstoredSettlements",
    "description": "Settlements that are not in the store.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "pending",
      "rejected"
    ],
    "properties": {
      "pending": {
        "description": "That wait for it.",
        "type": "integer",
        "minimum": 0
      },
      "rejected": {
        "description": "That it will never take, the newest first; at most 1,000.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/RejectedSettlement"
        }
      }
    }
  },
  "RejectedSettlement": {
    "title": "RejectedSettlement",
    "description": "Where it cannot be read, some fields are null.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "user_id",
      "request_id",
      "model",
      "charge",
      "reason",
      "rejected_at"
    ],
    "properties": {
      "id": {
        "description": "Of the request's admission.",
        "type": "string"
      },
      "user_id": {
        "description": "Whose.",
        "type": [
          "string",
          "null"
        ]
      },
      "request_id": {
        "description": "X-Request-Id.",
        "type": [
          "string",
          "null"
        ]
      },
      "model": {
        "description": "As asked for.",
        "type": [
          "string",
          "null"
        ]
      },
      "charge": {
        "description": "Nano-units.",
        "type": [
          "string",
          "null"
        ]
      },
      "reason": {
        "description": "Why it is not taken.",
        "type": "string"
      },
      "rejected_at": {
        "description": "When.",
        "type": "string",
        "format": "date-time"
      }
    }
  },
  "StreamList": {
    "title": "StreamList",
    "description": "The oldest first.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "active",
      "complete",
      "streams"
    ],
    "properties": {
      "active": {
        "description": "Those whose answer has begun.",
        "type": "integer"
      },
      "complete": {
        "description": "Whether every instance has told all of its own.",
        "type": "boolean"
      },
      "streams": {
        "description": "The streams.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/RunningStream"
        }
      }
    }
  },
  "RunningStream": {
    "title": "RunningStream",
    "description": "A request with a streamed answer.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "request_id",
      "instance",
      "user",
      "model",
      "upstream",
      "age_ms",
      "events",
      "bytes",
      "state"
    ],
    "properties": {
      "id": {
        "description": "To end it by.",
        "type": "string"
      },
      "request_id": {
        "description": "X-Request-Id of the request.",
        "type": "string"
      },
      "instance": {
        "description": "Where it runs.",
        "type": "string"
      },
      "user": {
        "description": "Id of the user.",
        "type": "string"
      },
      "model": {
        "description": "As asked for.",
        "type": "string"
      },
      "upstream": {
        "description": "Which serves it, once one does.",
        "type": [
          "string",
          "null"
        ]
      },
      "age_ms": {
        "description": "Since it came.",
        "type": "number"
      },
      "events": {
        "description": "Sent so far.",
        "type": "integer"
      },
      "bytes": {
        "description": "Sent so far.",
        "type": "integer"
      },
      "state": {
        "description": "waiting until the client has been sent the head.",
        "enum": [
          "waiting",
          "streaming"
        ]
      }
    }
  },
  "EndedStream": {
    "title": "EndedStream",
    "description": "It ends.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "ended"
    ],
    "properties": {
      "ended": {
        "description": "It does.",
        "const": true
      }
    }
  },
  "UpstreamStates": {
    "title": "UpstreamStates",
    "description": "By name.",
    "type": "object",
    "additionalProperties": {
      "$ref": "#/components/schemas/UpstreamState"
    }
  },
  "UpstreamState": {
    "title": "UpstreamState",
    "description": "An upstream.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "breaker",
      "health",
      "latency_ms",
      "can_serve",
      "instances",
      "manual",
      "history",
      "keys",
      "targets",
      "in_flight",
      "waiting",
      "cooldowns"
    ],
    "properties": {
      "breaker": {
        "description": "As the process that answers sees it. Where breaker.scope is target: open with no model left, half_open with some.",
        "$ref": "#/components/schemas/BreakerState"
      },
      "breakers": {
        "description": "By model, of those that were tried; absent where one breaker is for all.",
        "type": "object",
        "additionalProperties": {
          "$ref": "#/components/schemas/BreakerState"
        }
      },
      "health": {
        "description": "Of the latest requests.",
        "enum": [
          "healthy",
          "degraded",
          "unknown"
        ]
      },
      "latency_ms": {
        "description": "0 without data.",
        "type": "number"
      },
      "can_serve": {
        "description": "Whether requests are sent to it, and can be expected to be served.",
        "type": "boolean"
      },
      "instances": {
        "description": "State of its breaker by instance.",
        "type": "object",
        "additionalProperties": {
          "$ref": "#/components/schemas/BreakerState"
        }
      },
      "manual": {
        "description": "What an operator has set; null: nothing.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/UpstreamManual"
          },
          {
            "type": "null"
          }
        ]
      },
      "history": {
        "description": "The latest 50 changes of each process of this listener, oldest first.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/UpstreamChange"
        }
      },
      "keys": {
        "description": "API keys, as the process that answers sees them.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/UpstreamKey"
        }
      },
      "targets": {
        "description": "By the upstream's name of the model: those that requests went to since the process started.",
        "type": "object",
        "additionalProperties": {
          "$ref": "#/components/schemas/UpstreamTarget"
        }
      },
      "in_flight": {
        "description": "Requests of the process that answers at the upstream.",
        "type": "integer",
        "minimum": 0
      },
      "waiting": {
        "description": "Requests of that process that wait for a place with the upstream.",
        "type": "integer",
        "minimum": 0
      },
      "cooldowns": {
        "description": "What is not asked for a while, as the process that answers sees it.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/UpstreamCooldown"
        }
      }
    }
  },
  "BreakerState": {
    "title": "BreakerState",
    "description": "open: it is left alone.",
    "enum": [
      "closed",
      "open",
      "half_open"
    ]
  },
  "UpstreamManual": {
    "title": "UpstreamManual",
    "description": "What an operator has set of an upstream, on all instances.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "mode",
      "since",
      "until",
      "by",
      "reason"
    ],
    "properties": {
      "mode": {
        "description": "What.",
        "$ref": "#/components/schemas/ManualMode"
      },
      "since": {
        "description": "When it was set.",
        "type": "string",
        "format": "date-time"
      },
      "until": {
        "description": "When it ends by itself.",
        "type": "string",
        "format": "date-time"
      },
      "by": {
        "description": "Name of the token.",
        "type": "string"
      },
      "reason": {
        "description": "Why.",
        "type": "string"
      },
      "cooldowns_ended": {
        "description": "Cooldowns of its keys that this has ended; absent without any.",
        "type": "integer",
        "minimum": 1
      }
    }
  },
  "UpstreamChange": {
    "title": "UpstreamChange",
    "description": "A change of a breaker, or of what operators set.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "at",
      "state",
      "cause",
      "detail",
      "instance"
    ],
    "properties": {
      "at": {
        "description": "When.",
        "type": "string",
        "format": "date-time"
      },
      "state": {
        "description": "As attempts found it afterwards.",
        "$ref": "#/components/schemas/BreakerState"
      },
      "cause": {
        "description": "manual: set by an operator.",
        "enum": [
          "failures",
          "waited",
          "probe_succeeded",
          "probe_failed",
          "manual",
          "manual_lifted",
          "manual_ended"
        ]
      },
      "detail": {
        "description": "In words.",
        "type": "string"
      },
      "instance": {
        "description": "Whose breaker it is.",
        "type": "string"
      },
      "model": {
        "description": "Whose breaker it is, where each model has its own; absent for the upstream's.",
        "type": "string"
      }
    }
  },
  "ManualMode": {
    "title": "ManualMode",
    "description": "drain: no new requests, running ones finish; open: as an open breaker; close: tried whatever its breaker has counted.",
    "enum": [
      "drain",
      "open",
      "close"
    ]
  },
  "UpstreamManualRequest": {
    "title": "UpstreamManualRequest",
    "description": "Body of POST /admin/upstreams/{name}/manual.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "mode",
      "expires_in_seconds",
      "reason"
    ],
    "properties": {
      "mode": {
        "description": "What.",
        "$ref": "#/components/schemas/ManualMode"
      },
      "expires_in_seconds": {
        "description": "After which it ends by itself; up to 7 days.",
        "type": "integer",
        "minimum": 1,
        "maximum": 604800
      },
      "reason": {
        "description": "For those who find it.",
        "type": "string",
        "minLength": 1,
        "maxLength": 500
      }
    }
  },
  "UpstreamManualLifted": {
    "title": "UpstreamManualLifted",
    "description": "What was set is no longer.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "lifted"
    ],
    "properties": {
      "lifted": {
        "description": "Always true: where nothing is set, and no key of the process that answers is cooling down, it is a 404.",
        "const": true
      },
      "cooldowns_ended": {
        "description": "Cooldowns of its keys that this has ended; absent without any.",
        "type": "integer",
        "minimum": 1
      }
    }
  },
  "UpstreamCooldown": {
    "title": "UpstreamCooldown",
    "description": "What is not asked for a while, why, and until when.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "scope",
      "reason",
      "until"
    ],
    "properties": {
      "scope": {
        "description": "key_model: a key, for one model; key: a key, for all models; target: one model, by its breaker; upstream: all of it, by its breaker.",
        "enum": [
          "key_model",
          "key",
          "target",
          "upstream"
        ]
      },
      "key": {
        "description": "Its place in the configured list, from 1; for the first two scopes.",
        "type": "integer",
        "minimum": 1
      },
      "model": {
        "description": "Its name at the upstream; for key_model and target.",
        "type": "string"
      },
      "reason": {
        "description": "In words, with the provider's status and code.",
        "type": "string"
      },
      "until": {
        "description": "When it is asked again. An operator's act (close, clear, reload) ends the cooldowns of keys before.",
        "type": "string",
        "format": "date-time"
      }
    }
  },
  "UpstreamKey": {
    "title": "UpstreamKey",
    "description": "An API key of an upstream, without its value.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "position",
      "rests_until",
      "refusals",
      "last_error"
    ],
    "properties": {
      "position": {
        "description": "In the configured list, from 1.",
        "type": "integer",
        "minimum": 1
      },
      "rests_until": {
        "description": "It is not used before, for any model; null: it is used, but for single models perhaps.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "refusals": {
        "description": "In a row: each of them doubles its rest.",
        "type": "integer",
        "minimum": 0
      },
      "last_error": {
        "description": "Of requests with this key; null: none so far.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/UpstreamLastError"
          },
          {
            "type": "null"
          }
        ]
      }
    }
  },
  "UpstreamTarget": {
    "title": "UpstreamTarget",
    "description": "How requests to one model of an upstream fared.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "last_error",
      "last_success_at"
    ],
    "properties": {
      "last_error": {
        "description": "null: none so far.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/UpstreamLastError"
          },
          {
            "type": "null"
          }
        ]
      },
      "last_success_at": {
        "description": "null: none so far.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      }
    }
  },
  "UpstreamLastError": {
    "title": "UpstreamLastError",
    "description": "The last failure. It stays when requests are served again.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "at",
      "status",
      "code",
      "cause",
      "message",
      "request_id",
      "recovered_at"
    ],
    "properties": {
      "at": {
        "description": "When.",
        "type": "string",
        "format": "date-time"
      },
      "status": {
        "description": "The upstream's; null where no answer came.",
        "type": [
          "integer",
          "null"
        ]
      },
      "code": {
        "description": "The system's (ECONNREFUSED, CERT_HAS_EXPIRED) or the provider's own (invalid_api_key); null without one.",
        "type": [
          "string",
          "null"
        ]
      },
      "cause": {
        "description": "What happened, with host and port where it is a matter of the connection.",
        "type": "string"
      },
      "message": {
        "description": "The provider's or the system's words, without keys and URLs.",
        "type": "string"
      },
      "request_id": {
        "description": "The request that met it.",
        "type": "string"
      },
      "recovered_at": {
        "description": "The first success after it; null: none so far.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      }
    }
  },
  "AdminUserQuery": {
    "title": "AdminUserQuery",
    "description": "Parameters of GET /admin/users.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "search": {
        "description": "An id, or how an address begins.",
        "type": "string",
        "minLength": 1,
        "maxLength": 254
      },
      "tier": {
        "description": "Only users on this plan.",
        "type": "string",
        "minLength": 1,
        "maxLength": 64
      },
      "disabled": {
        "description": "Only those that are disabled, or that are not.",
        "type": "boolean"
      },
      "limit": {
        "description": "Entries of a page; 50 when absent.",
        "$ref": "#/components/schemas/PageLimit"
      },
      "cursor": {
        "description": "From next_cursor of the page before.",
        "$ref": "#/components/schemas/PageCursor"
      }
    }
  },
  "AdminUserPage": {
    "title": "AdminUserPage",
    "description": "A page of users, in the order of their addresses.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "next_cursor"
    ],
    "properties": {
      "data": {
        "description": "The entries.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/AdminUser"
        }
      },
      "next_cursor": {
        "description": "For the next page; null on the last one.",
        "$ref": "#/components/schemas/NextCursor"
      }
    }
  },
  "AdminUser": {
    "title": "AdminUser",
    "description": "A user.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "email",
      "plan_tier",
      "credits",
      "held",
      "granted",
      "charged",
      "created_at",
      "disabled_at"
    ],
    "properties": {
      "id": {
        "description": "Identifier.",
        "type": "string"
      },
      "email": {
        "description": "Address.",
        "type": "string"
      },
      "plan_tier": {
        "description": "The plan in force.",
        "type": "string"
      },
      "credits": {
        "description": "The balance, before what running requests hold.",
        "type": "string"
      },
      "held": {
        "description": "What running requests hold of it.",
        "type": "string"
      },
      "granted": {
        "description": "Ever given, less what was taken.",
        "type": "string"
      },
      "charged": {
        "description": "Ever charged.",
        "type": "string"
      },
      "created_at": {
        "description": "When it was made.",
        "type": "string",
        "format": "date-time"
      },
      "disabled_at": {
        "description": "Since when neither keys nor tokens work; null: they do.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      }
    }
  },
  "AdminUserDetail": {
    "title": "AdminUserDetail",
    "description": "A user, and what is used of the plan.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "email",
      "plan_tier",
      "credits",
      "held",
      "granted",
      "charged",
      "created_at",
      "disabled_at",
      "windows",
      "streams",
      "requests_running"
    ],
    "properties": {
      "id": {
        "description": "Identifier.",
        "type": "string"
      },
      "email": {
        "description": "Address.",
        "type": "string"
      },
      "plan_tier": {
        "description": "The plan in force.",
        "type": "string"
      },
      "credits": {
        "description": "The balance, before what running requests hold.",
        "type": "string"
      },
      "held": {
        "description": "What running requests hold of it.",
        "type": "string"
      },
      "granted": {
        "description": "Ever given, less what was taken.",
        "type": "string"
      },
      "charged": {
        "description": "Ever charged.",
        "type": "string"
      },
      "created_at": {
        "description": "When it was made.",
        "type": "string",
        "format": "date-time"
      },
      "disabled_at": {
        "description": "Since when neither keys nor tokens work; null: they do.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "windows": {
        "description": "Of the calendar in UTC.",
        "$ref": "#/components/schemas/AdminUserWindows"
      },
      "streams": {
        "description": "At the same time.",
        "$ref": "#/components/schemas/AdminUserStreams"
      },
      "requests_running": {
        "description": "Requests that run, streams among them.",
        "type": "integer"
      }
    }
  },
  "AdminUserWindows": {
    "title": "AdminUserWindows",
    "description": "What is used of each window.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "day",
      "hour",
      "minute"
    ],
    "properties": {
      "day": {
        "description": "Units of this day.",
        "$ref": "#/components/schemas/AdminUserWindow"
      },
      "hour": {
        "description": "Requests of this hour.",
        "$ref": "#/components/schemas/AdminUserWindow"
      },
      "minute": {
        "description": "Requests of this minute.",
        "$ref": "#/components/schemas/AdminUserWindow"
      }
    }
  },
  "AdminUserWindow": {
    "title": "AdminUserWindow",
    "description": "One window.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "used",
      "limit",
      "resets_at"
    ],
    "properties": {
      "used": {
        "description": "Used so far.",
        "type": "integer"
      },
      "limit": {
        "description": "What the plan allows; null: no limit.",
        "type": [
          "integer",
          "null"
        ]
      },
      "resets_at": {
        "description": "When the next one begins.",
        "type": "string",
        "format": "date-time"
      }
    }
  },
  "AdminUserStreams": {
    "title": "AdminUserStreams",
    "description": "Streams of a user.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "running",
      "limit"
    ],
    "properties": {
      "running": {
        "description": "How many run.",
        "type": "integer"
      },
      "limit": {
        "description": "How many the plan allows; null: no limit.",
        "type": [
          "integer",
          "null"
        ]
      }
    }
  },
  "NewUserRequest": {
    "title": "NewUserRequest",
    "description": "Body of POST /admin/users.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "email"
    ],
    "properties": {
      "email": {
        "description": "Address; nobody else has it.",
        "type": "string",
        "minLength": 1,
        "maxLength": 254
      },
      "plan_tier": {
        "description": "auth.signup.tier when absent.",
        "type": "string",
        "minLength": 1,
        "maxLength": 64
      },
      "credits": {
        "description": "Not negative; auth.signup.credits when absent.",
        "type": [
          "number",
          "string"
        ]
      }
    }
  },
  "UserChangeRequest": {
    "title": "UserChangeRequest",
    "description": "Body of PATCH /admin/users/{user_id}.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "plan_tier": {
        "description": "One of the configuration.",
        "type": "string",
        "minLength": 1,
        "maxLength": 64
      },
      "disabled": {
        "description": "Whether keys and tokens are to stop.",
        "type": "boolean"
      }
    }
  },
  "CreditsRequest": {
    "title": "CreditsRequest",
    "description": "Body of POST /admin/users/{user_id}/credits.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "amount",
      "reason"
    ],
    "properties": {
      "amount": {
        "description": "What is given; negative: taken. Of a string no place is lost.",
        "type": [
          "number",
          "string"
        ]
      },
      "reason": {
        "description": "Why; kept with the grant.",
        "type": "string",
        "minLength": 1,
        "maxLength": 500
      }
    }
  },
  "CreditGrant": {
    "title": "CreditGrant",
    "description": "Credits given to a user.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "user_id",
      "amount",
      "credits",
      "reason",
      "by",
      "created_at"
    ],
    "properties": {
      "id": {
        "description": "Identifier.",
        "type": "string"
      },
      "user_id": {
        "description": "To whom.",
        "type": "string"
      },
      "amount": {
        "description": "What was given; negative: taken.",
        "type": "string"
      },
      "credits": {
        "description": "The balance afterwards.",
        "type": "string"
      },
      "reason": {
        "description": "Why.",
        "type": "string"
      },
      "by": {
        "description": "Name of the operator.",
        "type": "string"
      },
      "created_at": {
        "description": "When.",
        "type": "string",
        "format": "date-time"
      }
    }
  },
  "CreditGrantQuery": {
    "title": "CreditGrantQuery",
    "description": "Parameters of GET /admin/users/{user_id}/credits.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "limit": {
        "description": "Entries of a page; 50 when absent.",
        "$ref": "#/components/schemas/PageLimit"
      },
      "cursor": {
        "description": "From next_cursor of the page before.",
        "$ref": "#/components/schemas/PageCursor"
      }
    }
  },
  "CreditGrantPage": {
    "title": "CreditGrantPage",
    "description": "A page of grants, the newest first.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "next_cursor"
    ],
    "properties": {
      "data": {
        "description": "The entries.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/CreditGrant"
        }
      },
      "next_cursor": {
        "description": "For the next page; null on the last one.",
        "$ref": "#/components/schemas/NextCursor"
      }
    }
  },
  "AdminKey": {
    "title": "AdminKey",
    "description": "A key, without its secret.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "user_id",
      "name",
      "key_prefix",
      "plan_tier",
      "created_at",
      "last_used_at",
      "expires_at",
      "models",
      "budget",
      "tags",
      "scopes",
      "addresses",
      "replaced_by"
    ],
    "properties": {
      "id": {
        "description": "Identifier.",
        "type": "string"
      },
      "user_id": {
        "description": "Whose it is.",
        "type": "string"
      },
      "name": {
        "description": "Label.",
        "type": "string"
      },
      "key_prefix": {
        "description": "The first 11 characters of the secret.",
        "type": "string"
      },
      "plan_tier": {
        "description": "The plan in force.",
        "type": "string"
      },
      "created_at": {
        "description": "When it was made.",
        "type": "string",
        "format": "date-time"
      },
      "last_used_at": {
        "description": "Last use; null before the first.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "expires_at": {
        "description": "From when on it works no more; null: never.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "models": {
        "description": "The only models that it may call, * for any text; null: all of the plan.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "budget": {
        "description": "What its requests may cost together; null: no more than the user's credits.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/AdminKeyBudget"
          },
          {
            "type": "null"
          }
        ]
      },
      "tags": {
        "description": "Marks of its requests in log and ledger.",
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "scopes": {
        "description": "What it may be used for: inference endpoints, reading what was used; null: both.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "enum": [
            "inference",
            "usage"
          ]
        }
      },
      "addresses": {
        "description": "The only addresses and networks that it may be used from; null: any.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "replaced_by": {
        "description": "Id of the key that took its place when it was rolled; null: it was not.",
        "type": [
          "string",
          "null"
        ]
      }
    }
  },
  "AdminKeyList": {
    "title": "AdminKeyList",
    "description": "The live keys of a user.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "data",
      "next_cursor"
    ],
    "properties": {
      "data": {
        "description": "The entries.",
        "type": "array",
        "items": {
          "$ref": "#/components/schemas/AdminKey"
        }
      },
      "next_cursor": {
        "description": "For the next page; null on the last one.",
        "$ref": "#/components/schemas/NextCursor"
      }
    }
  },
  "AdminKeyRequest": {
    "title": "AdminKeyRequest",
    "description": "Body of POST /admin/users/{user_id}/keys.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "name"
    ],
    "properties": {
      "name": {
        "description": "Label, not blank.",
        "type": "string",
        "minLength": 1,
        "maxLength": 200
      },
      "expires_in": {
        "description": "Seconds until it ends, or a time such as 12h or 30d.",
        "type": [
          "integer",
          "string",
          "null"
        ]
      },
      "expires_at": {
        "description": "In place of expires_in: when the key ends, in RFC 3339.",
        "type": [
          "string",
          "null"
        ]
      },
      "models": {
        "description": "The only models that it may call; * matches any text.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "budget": {
        "description": "amount and per: what its requests may cost together in a day, a month, or in total.",
        "type": [
          "object",
          "null"
        ],
        "additionalProperties": true
      },
      "tags": {
        "description": "Marks of its requests in log and ledger.",
        "type": [
          "object",
          "null"
        ],
        "additionalProperties": {
          "type": "string"
        }
      },
      "scopes": {
        "description": "What it may be used for: inference endpoints, reading what was used; without them both.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "enum": [
            "inference",
            "usage"
          ]
        }
      },
      "addresses": {
        "description": "The only addresses and networks (CIDR) that it may be used from.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      }
    }
  },
  "AdminKeyChangeRequest": {
    "title": "AdminKeyChangeRequest",
    "description": "Body of PATCH /admin/keys/{key_id}: what is absent stays, null takes a limit away.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "name": {
        "description": "Label, not blank.",
        "type": "string",
        "minLength": 1,
        "maxLength": 200
      },
      "expires_in": {
        "description": "Seconds until it ends, or a time such as 12h or 30d.",
        "type": [
          "integer",
          "string",
          "null"
        ]
      },
      "expires_at": {
        "description": "In place of expires_in: when the key ends, in RFC 3339.",
        "type": [
          "string",
          "null"
        ]
      },
      "models": {
        "description": "The only models that it may call; * matches any text.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "budget": {
        "description": "amount and per: what its requests may cost together in a day, a month, or in total.",
        "type": [
          "object",
          "null"
        ],
        "additionalProperties": true
      },
      "tags": {
        "description": "Marks of its requests in log and ledger.",
        "type": [
          "object",
          "null"
        ],
        "additionalProperties": {
          "type": "string"
        }
      },
      "scopes": {
        "description": "What it may be used for: inference endpoints, reading what was used; without them both.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "enum": [
            "inference",
            "usage"
          ]
        }
      },
      "addresses": {
        "description": "The only addresses and networks (CIDR) that it may be used from.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      }
    }
  },
  "AdminKeyRollRequest": {
    "title": "AdminKeyRollRequest",
    "description": "Body of POST /admin/keys/{key_id}/roll.",
    "type": "object",
    "additionalProperties": false,
    "required": [],
    "properties": {
      "grace": {
        "description": "For how long the old key still serves: seconds, or a time such as 24h; 0 ends it at once; 24h when absent.",
        "type": [
          "integer",
          "string",
          "null"
        ]
      }
    }
  },
  "DeletedUser": {
    "title": "DeletedUser",
    "description": "The user is deleted.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "message"
    ],
    "properties": {
      "message": {
        "description": "Always the same.",
        "const": "User deleted"
      }
    }
  },
  "CreatedAdminKey": {
    "title": "CreatedAdminKey",
    "description": "A new key: the only answer that ever holds the secret.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "key",
      "id",
      "user_id",
      "name",
      "key_prefix",
      "plan_tier",
      "created_at",
      "last_used_at",
      "expires_at",
      "models",
      "budget",
      "tags",
      "scopes",
      "addresses",
      "replaced_by"
    ],
    "properties": {
      "key": {
        "description": "The secret.",
        "type": "string"
      },
      "id": {
        "description": "Identifier.",
        "type": "string"
      },
      "user_id": {
        "description": "Whose it is.",
        "type": "string"
      },
      "name": {
        "description": "Label.",
        "type": "string"
      },
      "key_prefix": {
        "description": "The first 11 characters of the secret.",
        "type": "string"
      },
      "plan_tier": {
        "description": "The plan in force.",
        "type": "string"
      },
      "created_at": {
        "description": "When it was made.",
        "type": "string",
        "format": "date-time"
      },
      "last_used_at": {
        "description": "Last use; null before the first.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "expires_at": {
        "description": "From when on it works no more; null: never.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "models": {
        "description": "The only models that it may call, * for any text; null: all of the plan.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "budget": {
        "description": "What its requests may cost together; null: no more than the user's credits.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/AdminKeyBudget"
          },
          {
            "type": "null"
          }
        ]
      },
      "tags": {
        "description": "Marks of its requests in log and ledger.",
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "scopes": {
        "description": "What it may be used for: inference endpoints, reading what was used; null: both.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "enum": [
            "inference",
            "usage"
          ]
        }
      },
      "addresses": {
        "description": "The only addresses and networks that it may be used from; null: any.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "replaced_by": {
        "description": "Id of the key that took its place when it was rolled; null: it was not.",
        "type": [
          "string",
          "null"
        ]
      }
    }
  },
  "RolledAdminKey": {
    "title": "RolledAdminKey",
    "description": "The key that takes the place of another, with its settings: the only answer that ever holds the secret.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "key",
      "id",
      "user_id",
      "name",
      "key_prefix",
      "plan_tier",
      "created_at",
      "last_used_at",
      "expires_at",
      "models",
      "budget",
      "tags",
      "scopes",
      "addresses",
      "replaced_by",
      "previous"
    ],
    "properties": {
      "key": {
        "description": "The secret.",
        "type": "string"
      },
      "id": {
        "description": "Identifier.",
        "type": "string"
      },
      "user_id": {
        "description": "Whose it is.",
        "type": "string"
      },
      "name": {
        "description": "Label.",
        "type": "string"
      },
      "key_prefix": {
        "description": "The first 11 characters of the secret.",
        "type": "string"
      },
      "plan_tier": {
        "description": "The plan in force.",
        "type": "string"
      },
      "created_at": {
        "description": "When it was made.",
        "type": "string",
        "format": "date-time"
      },
      "last_used_at": {
        "description": "Last use; null before the first.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "expires_at": {
        "description": "From when on it works no more; null: never.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      },
      "models": {
        "description": "The only models that it may call, * for any text; null: all of the plan.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "budget": {
        "description": "What its requests may cost together; null: no more than the user's credits.",
        "anyOf": [
          {
            "$ref": "#/components/schemas/AdminKeyBudget"
          },
          {
            "type": "null"
          }
        ]
      },
      "tags": {
        "description": "Marks of its requests in log and ledger.",
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "scopes": {
        "description": "What it may be used for: inference endpoints, reading what was used; null: both.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "enum": [
            "inference",
            "usage"
          ]
        }
      },
      "addresses": {
        "description": "The only addresses and networks that it may be used from; null: any.",
        "type": [
          "array",
          "null"
        ],
        "items": {
          "type": "string"
        }
      },
      "replaced_by": {
        "description": "Id of the key that took its place when it was rolled; null: it was not.",
        "type": [
          "string",
          "null"
        ]
      },
      "previous": {
        "description": "The key that was rolled.",
        "$ref": "#/components/schemas/PreviousAdminKey"
      }
    }
  },
  "PreviousAdminKey": {
    "title": "PreviousAdminKey",
    "description": "A key that was rolled.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "id",
      "expires_at"
    ],
    "properties": {
      "id": {
        "description": "Identifier.",
        "type": "string"
      },
      "expires_at": {
        "description": "From when on it works no more.",
        "type": "string",
        "format": "date-time"
      }
    }
  },
  "AdminKeyBudget": {
    "title": "AdminKeyBudget",
    "description": "The budget of a key, and what is used of it in the period that runs.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "amount",
      "per",
      "spent",
      "held",
      "resets_at"
    ],
    "properties": {
      "amount": {
        "description": "What may be spent in a period.",
        "type": "string"
      },
      "per": {
        "description": "A day or month of UTC, or all time.",
        "enum": [
          "day",
          "month",
          "total"
        ]
      },
      "spent": {
        "description": "What requests of this period have cost.",
        "type": "string"
      },
      "held": {
        "description": "What running requests hold.",
        "type": "string"
      },
      "resets_at": {
        "description": "When the next period begins; null: never.",
        "type": [
          "string",
          "null"
        ],
        "format": "date-time"
      }
    }
  },
  "EndedSessions": {
    "title": "EndedSessions",
    "description": "The user is signed out everywhere.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "message"
    ],
    "properties": {
      "message": {
        "description": "Says so.",
        "type": "string"
      }
    }
  },
  "RevokedKey": {
    "title": "RevokedKey",
    "description": "It works no more.",
    "type": "object",
    "additionalProperties": false,
    "required": [
      "message"
    ],
    "properties": {
      "message": {
        "description": "Says so.",
        "type": "string"
      }
    }
  }
};
