// Before a change: docs/traps.md, What else changes with a change.
/** Ids of one user, by the name of the path parameter that takes them. */
export interface Ids {
  project_id: string
  /** Of a member of that project. */
  member_id: string
  /** Of no invitation. */
  invitation_token: string
  aid: string
  assistant_id: string
  model: string
  file_id: string
  attachment_id: string
  ingestion_id: string
  tid: string
  thread_id: string
  run_id: string
  completion_id: string
  message_id: string
  step_id: string
  receipt_id: string
  session_id: string
  login_id: string
  prompt_id: string
  folder_id: string
  mcp_login_id: string
  side_id: string
  memory_id: string
  share_token: string
  document_id: string
  schedule_id: string
  source_id: string
  vector_store_id: string
  /** What `file_id` means on `/v1`. */
  project_file_id: string
  batch_id: string
  upload_id: string
  response_id: string
  conversation_id: string
  /** That of the session of `thread_id`. */
  container_id: string
  item_id: string
}

interface ForeignBody {
  status: number
  body: (own: Ids, other: Ids) => unknown
}

/** What must happen when a user calls an operation with the ids of another. */
export type Expectation =
  /** All ids in the path are the other's. `body` makes the request a valid one otherwise. */
  | { foreign: number; body?: (own: Ids, other: Ids) => unknown; foreignBody?: ForeignBody[] }
  /** Ids of the other in the body; those of the path, if there are any, are the caller's. */
  | { foreignBody: ForeignBody[] }
  /** Takes no ids: its answer must show nothing of the other. */
  | { shows: 'nothing of others' }
  /** Takes no ids and shows nothing but what the caller sent or the service is made of. */
  | { takesNoIds: string }

const secret = { shows: 'nothing of others' } as const
const ownBody = { takesNoIds: 'acts on what the body says about the caller' } as const
const openDoor = { takesNoIds: 'open to everybody, or held by a token of its own' } as const
const human = [{ type: 'human', content: 'hi' }]

/**
 * Every operation of the OpenAPI document, by its name; the test fails for one that is missing here.
 * 403 and 404 as `docs` and the contract say: projects and assistants 403, threads and runs 404.
 */
export const native: Record<string, Expectation> = {
  'mcp.message': { foreign: 403, body: () => ({ jsonrpc: '2.0', id: 1, method: 'ping' }) },
  'mcp.resume': { foreign: 403 },
  'mcp.metadata': openDoor,
  'health.read': openDoor,
  'health.ready': openDoor,
  'accounts.signup': openDoor,
  'accounts.login': openDoor,
  'accounts.verifyEmail': openDoor,
  'accounts.resendVerification': openDoor,
  'accounts.forgotPassword': openDoor,
  'accounts.resetPassword': openDoor,
  'accounts.exchange': openDoor,
  'accounts.verificationStatus': openDoor,
  'accounts.loginCodes.create': openDoor,
  'accounts.loginCodes.redeem': openDoor,
  'users.loginCodes.find': { takesNoIds: 'takes a code that nobody has confirmed yet' },
  'users.loginCodes.decide': ownBody,
  'users.logins.list': secret,
  'users.logins.end': { foreign: 404 },
  'accounts.socialLogin': openDoor,
  'accounts.socialCallback': openDoor,
  'accounts.socialCallbackOf': openDoor,
  'accounts.socialLogout': openDoor,
  'accounts.socialLogoutOf': openDoor,
  'accounts.loginMethods': openDoor,
  'accounts.userInfo': secret,
  'accounts.me': secret,
  'accounts.threadInfo': secret,
  'users.read': secret,
  'users.update': ownBody,
  'users.changePassword': ownBody,
  'users.export': secret,
  'users.exportArchive': openDoor,
  'users.import': { takesNoIds: 'ids of an archive become new ids of the caller: test/accounts/export.test.ts' },
  'users.models': { takesNoIds: 'lists what everybody may choose' },
  'users.usage': secret,
  'users.audit': secret,
  'auth.deleteUser': ownBody,
  'billing.plans': { takesNoIds: 'lists what everybody may buy' },
  'billing.checkout.create': ownBody,
  'billing.checkout.read': { foreign: 404 },
  'billing.webhook': openDoor,
  'users.picture': { takesNoIds: 'reads what other sites publish' },
  'memory.list': secret,
  'memory.create': {
    foreignBody: [
      { status: 403, body: (_own, other) => ({ text: 'mine', assistant_id: other.aid }) },
      { status: 403, body: (_own, other) => ({ text: 'mine', project_id: other.project_id }) },
    ],
  },
  'memory.update': {
    foreign: 404,
    body: () => ({ text: 'mine' }),
    foreignBody: [
      { status: 403, body: (_own, other) => ({ assistant_id: other.aid }) },
      { status: 403, body: (_own, other) => ({ project_id: other.project_id }) },
    ],
  },
  'memory.delete': { foreign: 404 },
  'prompts.list': secret,
  'prompts.create': ownBody,
  'prompts.put': { foreign: 404, body: () => ({ name: 'mine', text: 'mine' }) },
  'prompts.delete': { foreign: 404 },
  'prompts.shared.list': secret,
  'prompts.shared.create': { foreign: 404 },
  'prompts.shared.put': { foreign: 404, body: () => ({ name: 'mine', text: 'mine' }) },
  'prompts.shared.delete': { foreign: 404 },
  'folders.list': secret,
  'folders.create': ownBody,
  'folders.put': { foreign: 404, body: () => ({ name: 'mine' }) },
  'folders.delete': { foreign: 404 },
  'folders.files.create': {
    foreign: 404,
    body: (own) => ({ file_id: own.project_file_id }),
    foreignBody: [{ status: 404, body: (_own, other) => ({ file_id: other.project_file_id }) }],
  },
  'projects.list': secret,
  'projects.create': ownBody,
  'projects.token': { foreign: 403 },
  'projects.update': { foreign: 403, body: () => ({ name: 'mine' }) },
  'projects.delete': { foreign: 403 },
  'projects.members.list': { foreign: 403 },
  'projects.members.add': { foreign: 403, body: () => ({ email: 'a@example.com', role: 'viewer' }) },
  'projects.setHolder': { foreign: 403, body: () => ({ member_id: 'mine' }) },
  'projects.members.update': { foreign: 403, body: () => ({ role: 'owner' }) },
  'projects.members.delete': { foreign: 403 },
  'invitations.read': { takesNoIds: 'takes the link of a mail: test/projects/members.test.ts' },
  'groups.list': secret,
  'invitations.accept': { takesNoIds: 'takes the link of a mail: test/projects/members.test.ts' },
  'projects.budget.read': { foreign: 403 },
  'projects.members.budget.read': { foreign: 403 },
  'projects.members.budget.put': { foreign: 403, body: () => ({ runs: 1 }) },
  'projects.usage': { foreign: 403 },
  'projects.audit': { foreign: 403 },
  'projects.budget.put': { foreign: 403, body: () => ({ runs: 1 }) },
  'assistants.budget.read': { foreign: 403 },
  'assistants.budget.put': { foreign: 403, body: () => ({ runs: 1 }) },
  'assistants.list': secret,
  'assistants.create': ownBody,
  'assistants.listPublic': secret,
  'assistants.read': { foreign: 403 },
  'assistants.put': { foreign: 403, body: () => ({ name: 'mine' }) },
  'assistants.delete': { foreign: 403 },
  'assistants.move': {
    foreign: 403,
    body: (own) => ({ project_id: own.project_id }),
    foreignBody: [{ status: 403, body: (_own, other) => ({ project_id: other.project_id }) }],
  },
  'assistants.publicToken.renew': { foreign: 403 },
  'assistants.yaml.read': { foreign: 403 },
  'assistants.apply': ownBody,
  'assistants.compatAccount.put': {
    foreign: 403,
    body: () => ({ api_key: 'sk-mine', base_url: 'https://api.example.com/v1' }),
  },
  'assistants.compatAccount.read': { foreign: 403 },
  'assistants.compatAccount.delete': { foreign: 403 },
  'assistants.mcpLogins.list': { foreign: 403 },
  'assistants.mcpLogins.begin': { foreign: 403, body: () => ({ url: 'https://mcp.example.com/mcp' }) },
  'assistants.mcpLogins.finish': { foreign: 403, body: () => ({ attempt: 'a', code: 'c', state: 's' }) },
  'assistants.mcpLogins.delete': { foreign: 403 },
  'files.list': { foreign: 403 },
  'files.upload': { foreign: 403, body: () => fileForm() },
  'files.delete': { foreign: 403 },
  'files.retry': { foreign: 403 },
  'files.chunks': { foreign: 403 },
  'files.content': { foreign: 403 },
  'evaluation.read': { foreign: 403 },
  'evaluation.put': { foreign: 403, body: () => ({ questions: [] }) },
  'evaluation.run': { foreign: 403 },
  'insights.chats': { foreign: 403 },
  'insights.chat': { foreign: 403 },
  'insights.feedback': { foreign: 403 },
  'insights.openQuestions': { foreign: 403 },
  'files.search': { foreign: 403, body: () => ({ query: 'anything' }) },
  'files.ingestion': { foreign: 403 },
  'files.ingestionEvents': { foreign: 403 },
  'files.reembedding': { foreign: 403 },
  'files.reembed': { foreign: 403 },
  'tools.list': secret,
  'tools.try': { foreign: 403, body: () => ({ name: 'retrieval', args: { query: 'anything' } }) },
  'threads.list': secret,
  'threads.create': { foreignBody: [{ status: 403, body: (_own, other) => ({ assistant_id: other.aid }) }] },
  'threads.read': { foreign: 404 },
  'threads.put': {
    foreign: 404,
    body: () => ({ name: 'mine' }),
    foreignBody: [{ status: 404, body: (_own, other) => ({ folder_id: other.folder_id }) }],
  },
  'threads.delete': { foreign: 404 },
  'threads.state': { foreign: 404 },
  'threads.addState': { foreign: 404, body: () => ({ values: human }) },
  'threads.history': { foreign: 404 },
  'threads.attachments.content': { foreign: 404 },
  'threads.findMessages': secret,
  'threads.tags': secret,
  'threads.share.create': { foreign: 404 },
  'threads.share.update': { foreign: 404 },
  'threads.share.read': { foreign: 404 },
  'threads.share.delete': { foreign: 404 },
  'threads.share.list': secret,
  'threads.share.open': openDoor,
  'threads.documents.list': { foreign: 404 },
  'threads.documents.read': { foreign: 404 },
  'threads.documents.put': { foreign: 404, body: () => ({ name: 'mine', content: 'mine', base: 1 }) },
  'threads.documents.delete': { foreign: 404 },
  'threads.sides.create': { foreign: 404, body: () => ({ after: null }) },
  'threads.sides.take': { foreign: 404, body: () => ({ after: null }) },
  'threads.runs': { foreign: 404 },
  'sources.create': { foreign: 403, body: () => ({ type: 'page', url: 'https://example.com/' }) },
  'sources.list': { foreign: 403 },
  'sources.read': { foreign: 403 },
  'sources.pages': { foreign: 403 },
  'sources.refresh': { foreign: 403 },
  'sources.delete': { foreign: 403 },
  'schedules.create': {
    foreignBody: [
      { status: 403, body: (_own, other) => ({ assistant_id: other.aid, input: human, cron: '0 7 * * *' }) },
      {
        status: 404,
        body: (own, other) => ({ assistant_id: own.aid, thread_id: other.tid, input: human, cron: '0 7 * * *' }),
      },
    ],
  },
  'schedules.preview': { takesNoIds: 'computes times' },
  'schedules.list': secret,
  'schedules.read': { foreign: 404 },
  'schedules.update': {
    foreign: 404,
    body: () => ({ paused: true }),
    foreignBody: [
      { status: 403, body: (_own, other) => ({ assistant_id: other.aid }) },
      { status: 404, body: (_own, other) => ({ thread_id: other.tid }) },
    ],
  },
  'schedules.delete': { foreign: 404 },
  'schedules.trigger': { foreign: 404 },
  'schedules.takeOver': { foreign: 404 },
  'schedules.runs': { foreign: 404 },
  'schedules.mail': { takesNoIds: 'held by the signature of the link' },
  'schedules.stopMails': { takesNoIds: 'held by the signature of the link' },
  'runs.stream': { foreignBody: runBodies() },
  'runs.create': { foreignBody: runBodies() },
  'runs.read': { foreign: 404 },
  'runs.join': { foreign: 404 },
  'runs.cancel': { foreign: 404 },
  'runs.resume': { foreign: 404, body: () => ({ action: 'approve' }) },
  'runs.feedback': {
    foreignBody: [{ status: 404, body: (_own, other) => ({ run_id: other.run_id, key: 'helpful', score: 1 }) }],
  },
  'runs.input_schema': secret,
  'runs.output_schema': secret,
  'runs.config_schema': secret,
  'runs.debug_assistant': { foreign: 403 },
  'receipts.read': { foreign: 404 },
  'v1.models.list': secret,
  'v1.models.read': { foreign: 404 },
  'v1.files.create': { takesNoIds: 'stores what the body holds' },
  'v1.files.list': secret,
  'v1.files.read': { foreign: 404 },
  'v1.files.content': { foreign: 404 },
  'v1.files.delete': { foreign: 404 },
  'v1.uploads.create': {
    takesNoIds: 'announces a file that does not exist yet',
  },
  'v1.uploads.parts.create': { foreign: 404 },
  'v1.uploads.complete': { foreign: 404, body: () => ({ part_ids: ['mine'] }) },
  'v1.uploads.cancel': { foreign: 404 },
  'v1.vectorStores.list': secret,
  'v1.vectorStores.create': {
    foreignBody: [{ status: 404, body: (_own, other) => ({ file_ids: [other.file_id] }) }],
  },
  'v1.vectorStores.read': { foreign: 404 },
  'v1.vectorStores.update': { foreign: 404, body: () => ({ name: 'mine' }) },
  'v1.vectorStores.delete': { foreign: 404 },
  'v1.vectorStores.search': { foreign: 404, body: () => ({ query: 'anything' }) },
  'v1.vectorStores.files.list': { foreign: 404 },
  'v1.vectorStores.files.create': { foreign: 404, body: (own) => ({ file_id: own.file_id }) },
  'v1.vectorStores.files.read': { foreign: 404 },
  'v1.vectorStores.files.update': { foreign: 404, body: () => ({ attributes: {} }) },
  'v1.vectorStores.files.delete': { foreign: 404 },
  'v1.vectorStores.files.content': { foreign: 404 },
  'v1.vectorStores.fileBatches.create': { foreign: 404, body: (own) => ({ file_ids: [own.file_id] }) },
  'v1.vectorStores.fileBatches.read': { foreign: 404 },
  'v1.vectorStores.fileBatches.cancel': { foreign: 404 },
  'v1.vectorStores.fileBatches.listFiles': { foreign: 404 },
  'v1.threads.create': ownBody,
  'v1.threads.read': { foreign: 404 },
  'v1.threads.update': { foreign: 404, body: () => ({ metadata: { mine: 'yes' } }) },
  'v1.threads.delete': { foreign: 404 },
  'v1.threads.messages.create': { foreign: 404, body: () => ({ role: 'user', content: 'hi' }) },
  'v1.threads.messages.list': { foreign: 404 },
  'v1.threads.messages.read': { foreign: 404 },
  'v1.threads.messages.update': { foreign: 404, body: () => ({ metadata: { mine: 'yes' } }) },
  'v1.threads.messages.delete': { foreign: 404 },
  'v1.threads.runs.create': { foreign: 404, body: (own) => ({ assistant_id: own.assistant_id }) },
  'v1.threads.createAndRun': {
    foreignBody: [{ status: 404, body: (_own, other) => ({ assistant_id: other.assistant_id }) }],
  },
  'v1.threads.runs.list': { foreign: 404 },
  'v1.threads.runs.read': { foreign: 404 },
  'v1.threads.runs.update': { foreign: 404, body: () => ({ metadata: { mine: 'yes' } }) },
  'v1.threads.runs.cancel': { foreign: 404 },
  'v1.threads.runs.submitToolOutputs': {
    foreign: 404,
    body: () => ({ tool_outputs: [{ tool_call_id: 'call', output: 'mine' }] }),
  },
  'v1.threads.runs.steps.list': { foreign: 404 },
  'v1.threads.runs.steps.read': { foreign: 404 },
  'v1.assistants.list': secret,
  'v1.assistants.create': ownBody,
  'v1.assistants.read': { foreign: 404 },
  'v1.assistants.update': { foreign: 404, body: () => ({ name: 'mine' }) },
  'v1.assistants.delete': { foreign: 404 },
  'v1.completions.create': {
    foreignBody: [{ status: 404, body: (_own, other) => ({ model: other.aid, prompt: 'hi' }) }],
  },
  'v1.responses.create': {
    foreignBody: [
      { status: 404, body: (_own, other) => ({ model: other.aid, input: 'hi' }) },
      { status: 404, body: (own, other) => ({ model: own.aid, input: 'hi', conversation: other.conversation_id }) },
      { status: 404, body: (own, other) => ({ model: own.aid, input: 'hi', previous_response_id: other.response_id }) },
    ],
  },
  'v1.responses.read': { foreign: 404 },
  'v1.responses.cancel': { foreign: 404 },
  'v1.responses.delete': { foreign: 404 },
  'v1.responses.inputItems.list': { foreign: 404 },
  'v1.responses.compact': {
    foreignBody: [
      { status: 404, body: (_own, other) => ({ model: other.aid, input: 'hi' }) },
      { status: 404, body: (own, other) => ({ model: own.aid, previous_response_id: other.response_id }) },
    ],
  },
  'v1.responses.inputTokens.count': {
    foreignBody: [
      { status: 404, body: (_own, other) => ({ model: other.aid, input: 'hi' }) },
      { status: 404, body: (_own, other) => ({ input: 'hi', conversation: other.conversation_id }) },
      { status: 404, body: (_own, other) => ({ input: 'hi', previous_response_id: other.response_id }) },
    ],
  },
  'v1.conversations.create': {
    foreignBody: [{ status: 400, body: (_own, other) => ({ items: [{ type: 'item_reference', id: other.item_id }] }) }],
  },
  'v1.conversations.read': { foreign: 404 },
  'v1.conversations.update': { foreign: 404, body: () => ({ metadata: {} }) },
  'v1.conversations.delete': { foreign: 404 },
  'v1.conversations.items.list': { foreign: 404 },
  'v1.conversations.items.create': { foreign: 404, body: () => ({ items: [{ role: 'user', content: 'hi' }] }) },
  'v1.conversations.items.read': { foreign: 404 },
  'v1.conversations.items.delete': { foreign: 404 },
  'v1.containers.create': {
    foreignBody: [{ status: 404, body: (_own, other) => ({ name: 'mine', file_ids: [other.project_file_id] }) }],
  },
  'v1.containers.list': secret,
  'v1.containers.read': { foreign: 404 },
  'v1.containers.delete': { foreign: 404 },
  'v1.containers.files.create': { foreign: 404, body: (own) => ({ file_id: own.project_file_id }) },
  'v1.containers.files.list': { foreign: 404 },
  'v1.containers.files.read': { foreign: 404 },
  'v1.containers.files.content': { foreign: 404 },
  'v1.containers.files.delete': { foreign: 404 },
  'v1.chat.completions.create': {
    foreignBody: [
      { status: 404, body: (_own, other) => ({ model: other.aid, messages: [{ role: 'user', content: 'hi' }] }) },
    ],
  },
  'v1.chat.completions.list': secret,
  'v1.chat.completions.read': { foreign: 404 },
  'v1.chat.completions.update': { foreign: 404, body: () => ({ metadata: {} }) },
  'v1.chat.completions.delete': { foreign: 404 },
  'v1.chat.completions.messages.list': { foreign: 404 },
  'v1.embeddings.create': { takesNoIds: 'embeds what the body says' },
  'v1.audio.transcriptions.create': { takesNoIds: 'writes down the recording of the body' },
  'v1.audio.translations.create': { takesNoIds: 'writes down the recording of the body' },
  'v1.audio.speech.create': { takesNoIds: 'reads the text of the body aloud' },
}

/** Called with the public token of the caller's own assistant. */
export const compat: Record<string, Expectation> = {
  'chat.completions.create': { takesNoIds: 'the token names the assistant' },
  'completions.create': { takesNoIds: 'the token names the assistant' },
  'models.list': secret,
  'models.read': { foreign: 404 },
  'assistants.list': secret,
  'assistants.read': { foreign: 404 },
  'assistants.config': { foreign: 404 },
  'threads.create': ownBody,
  'threads.read': { foreign: 404 },
  'threads.update': { foreign: 404, body: () => ({ metadata: { mine: 'yes' } }) },
  'threads.messages.create': { foreign: 404, body: () => ({ role: 'user', content: 'hi' }) },
  'threads.messages.list': { foreign: 404 },
  'threads.messages.read': { foreign: 404 },
  'threads.runs.create': { foreign: 404, body: (own) => ({ assistant_id: own.aid }) },
  'threads.runs.list': { foreign: 404 },
  'threads.createAndRun': { foreignBody: [{ status: 404, body: (_own, other) => ({ assistant_id: other.aid }) }] },
  'threads.runs.read': { foreign: 404 },
  'threads.runs.cancel': { foreign: 404, body: () => ({}) },
  'threads.runs.steps.list': { foreign: 404 },
  'threads.runs.steps.read': { foreign: 404 },
}

/** The native public endpoints, called in the same way. */
export const publicNative: Record<string, Expectation> = {
  'public.runs.stream': {
    foreignBody: [
      { status: 401, body: (_own, other) => ({ assistant_id: other.aid, input: human }) },
      { status: 404, body: (own, other) => ({ assistant_id: own.aid, thread_id: other.thread_id, input: human }) },
    ],
  },
  'public.runs.join': { foreign: 404 },
  'public.runs.cancel': { foreign: 404, body: () => ({}) },
  'public.runs.feedback': { foreign: 404, body: () => ({ score: 1 }) },
}

function runBodies() {
  const input = human
  return [
    {
      status: 404,
      body: (own: Ids, other: Ids) => ({
        thread_id: other.tid,
        input,
        config: { configurable: { assistant_id: own.aid } },
      }),
    },
    {
      status: 403,
      body: (own: Ids, other: Ids) => ({
        thread_id: own.tid,
        input,
        config: { configurable: { assistant_id: other.aid } },
      }),
    },
  ]
}

function fileForm(): FormData {
  const form = new FormData()
  form.append('files', new Blob(['words']), 'a.txt')
  return form
}

/** Operations of the codec and of operators have tests of their own, for they know no users. */
export const operators = /^(?:codec|admin)\./
