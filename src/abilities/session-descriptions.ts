// The operations on sessions as they are offered: their names, and what goes in and out.

const place = {
  workspace: {
    type: "object",
    properties: { workspace_type: { type: "string" }, workspace_id: { type: "string" } },
  },
  workspace_type: { type: "string" },
  workspace_id: { type: "string" },
  session_owner: { type: "object", properties: { type: { type: "string" }, key: { type: "string" } } },
};
const one = { session_id: { type: "string" }, ...place };
const kind = { agent: { type: "string" }, context: { type: "string" } };
const output = (field: string, type: string) => ({
  type: "object",
  required: [field],
  properties: { [field]: { type } },
});

export const descriptions = {
  list: {
    category: "agents-api",
    name: "agents/list-conversation-sessions",
    label: "List conversations",
    description: "Lists the conversations that are kept for whoever asks, the newest first and without their messages.",
    inputSchema: {
      type: "object",
      properties: {
        limit: { type: "integer", minimum: 1, maximum: 100, default: 50 },
        offset: { type: "integer", minimum: 0, default: 0 },
        ...kind,
        ...place,
      },
    },
    outputSchema: output("sessions", "array"),
    annotations: { readonly: true, destructive: false, idempotent: true },
  },

  get: {
    category: "agents-api",
    name: "agents/get-conversation-session",
    label: "Read a conversation",
    description: "Gives a conversation that is kept for whoever asks, with its messages.",
    inputSchema: { type: "object", required: ["session_id"], properties: one },
    outputSchema: output("session", "object"),
    annotations: { readonly: true, destructive: false, idempotent: true },
  },

  create: {
    category: "agents-api",
    name: "agents/create-conversation-session",
    label: "Begin a conversation",
    description: "Makes a conversation for whoever asks, in which nothing has been said yet.",
    inputSchema: { type: "object", properties: { metadata: { type: "object" }, ...kind, ...place } },
    outputSchema: output("session", "object"),
    annotations: { readonly: false, destructive: false, idempotent: false },
  },

  updateTitle: {
    category: "agents-api",
    name: "agents/update-conversation-session-title",
    label: "Name a conversation",
    description: "Gives a conversation of whoever asks another title.",
    inputSchema: {
      type: "object",
      required: ["session_id", "title"],
      properties: { title: { type: "string" }, ...one },
    },
    outputSchema: output("session", "object"),
    annotations: { readonly: false, destructive: false, idempotent: true },
  },

  remove: {
    category: "agents-api",
    name: "agents/delete-conversation-session",
    label: "Delete a conversation",
    description: "Deletes a conversation of whoever asks, with all that was said in it.",
    inputSchema: { type: "object", required: ["session_id"], properties: one },
    outputSchema: output("deleted", "boolean"),
    annotations: { readonly: false, destructive: true, idempotent: true },
  },
};
