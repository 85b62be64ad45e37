export { ApiError, type ClientOptions, type Schemas, createClient, unwrap } from './create-client.ts'
export { type Message, type StreamedMessage, foldMessages } from './fold-messages.ts'
export { type FollowOptions, type RunSnapshot, followRun, streamRun } from './follow-run.ts'
export { type ServerEvent, parseEvent, readEvents } from './read-events.ts'
