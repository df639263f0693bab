// What Slack sends, in the shapes it really has.

export const verification = {
  token: "one-long-verification-token",
  challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
  type: "url_verification",
};

const envelope = {
  token: "one-long-verification-token",
  team_id: "T123ABC456",
  api_app_id: "A0PNCHHK2",
  type: "event_callback",
  authorizations: [
    { enterprise_id: null, team_id: "T123ABC456", user_id: "U0PNCHHK2", is_bot: true, is_enterprise_install: false },
  ],
  is_ext_shared_channel: false,
};

/** Somebody writes to the app directly. */
export const directMessage = {
  ...envelope,
  event: {
    client_msg_id: "28cf0e2b-ae6c-4e21-8ac6-5b1b0c7b9e55",
    type: "message",
    channel: "D024BE91L",
    user: "U2147483697",
    text: "Hello hello can you hear me?",
    ts: "1355517523.000005",
    event_ts: "1355517523.000005",
    channel_type: "im",
  },
  event_id: "Ev0PV52K21",
  event_time: 1355517523,
};

/** What the app itself has posted comes back as an event. */
export const ownMessage = {
  ...envelope,
  event: {
    type: "message",
    subtype: "bot_message",
    bot_id: "B0PNCHHK2",
    channel: "D024BE91L",
    text: "I hear you.",
    ts: "1355517524.000006",
    event_ts: "1355517524.000006",
    channel_type: "im",
  },
  event_id: "Ev0PV52K22",
  event_time: 1355517524,
};

/** Somebody mentions the app in a thread of a channel. */
export const mention = {
  ...envelope,
  event: {
    type: "app_mention",
    user: "U061F7AUR",
    text: "<@U0PNCHHK2> is the shop open?",
    ts: "1515449522.000016",
    thread_ts: "1515449483.000108",
    channel: "C123ABC456",
    event_ts: "1515449522.000016",
  },
  event_id: "Ev123ABC456",
  event_time: 1515449522,
};
