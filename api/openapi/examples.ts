const question = 'When is the office open on Fridays?'
const assistantId = '0193f7a2-6f50-7c2e-9a43-5d1c9b1f4e10'
const threadId = '0193f7a2-7a11-7d4f-8c55-2b9e6f0a3d21'
const runId = '0193f7a3-0c9b-7e63-b0aa-7f4f1d2c8e32'

/** An example of each request body and of each event's data, by component. */
export const componentExamples: Record<string, unknown> = {
  AssistantCompatAccountPayload: { api_key: 'sk-example', base_url: 'https://models.example.com/v1' },
  AssistantPayload: {
    name: 'Office guide',
    config: {
      'type==agent/access_mode': 'authenticated',
      'type==agent/system_message': 'Answer from the uploaded files and name the file.',
      'type==agent/tools': [{ type: 'retrieval' }],
    },
    public: false,
  },
  AssistantProjectUpdateRequest: { project_id: '0193f7a1-58d7-7b1d-9f32-8a6e4c0b7d54' },
  BillingEvent: { id: 'evt_1', type: 'checkout.session.completed' },
  BudgetRequest: { runs: 1000, tokens: 2_000_000, money: 5 },
  ChangePasswordRequest: { current_password: 'correct horse', new_password: 'battery staple' },
  CheckoutRequest: { price_id: 'price_1' },
  CodecPayloads: { payloads: [{ metadata: { encoding: 'YmluYXJ5L2VuY3J5cHRlZA==' }, data: 'AAECAw==' }] },
  CompatChatCompletionChunk: {
    id: `chatcmpl-${runId}`,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, delta: { content: 'Until three.' }, logprobs: null, finish_reason: null }],
  },
  CompatChatCompletionRequest: { model: 'any', messages: [{ role: 'user', content: question }], stream: true },
  SearchFilesRequest: { query: question },
  CompatDoneEvent: '[DONE]',
  CompatErrorEvent: {
    error: { message: 'The model did not answer.', type: 'server_error', param: null, code: 'model_error' },
  },
  CompatMessageDelta: {
    id: `${runId}-0`,
    object: 'thread.message.delta',
    delta: { content: [{ index: 0, type: 'text', text: { value: 'Until three.' } }] },
  },
  CompatRunCreateRequest: { assistant_id: assistantId, stream: true },
  CompatThreadCreateRequest: { messages: [{ role: 'user', content: question }], metadata: { ticket: '4711' } },
  CompatThreadMessageRequest: { role: 'user', content: question },
  CompatThreadRunCreateRequest: {
    assistant_id: assistantId,
    thread: { messages: [{ role: 'user', content: question }] },
    stream: true,
  },
  CompatThreadUpdateRequest: { metadata: { ticket: '4711' } },
  CreateRunPayload: {
    assistant_id: assistantId,
    thread_id: threadId,
    input: [{ type: 'human', content: question }],
  },
  DeleteUserRequest: { email_confirmation: 'ada@example.com' },
  EndEvent: '',
  FeedbackCreateRequest: { run_id: runId, key: 'helpful', score: 1, comment: 'Right, and short.' },
  ForgotPasswordRequest: { email: 'ada@example.com' },
  LoginRequest: { email: 'ada@example.com', password: 'correct horse' },
  ProjectCreateRequest: { name: 'Support', description: 'Assistants of the help desk' },
  ProjectUpdateRequest: { name: 'Help desk' },
  PublicCreateRunPayload: { assistant_id: assistantId, input: [{ type: 'human', content: question }] },
  ResendVerificationRequest: { email: 'ada@example.com' },
  ResetPasswordRequest: { token: 'the token of the link in the mail', new_password: 'battery staple' },
  ResumeRunPayload: { action: 'approve' },
  RunDataEvent: [{ type: 'AIMessage', data: { id: `${runId}-0`, content: 'Until three.' } }],
  RunError: { status_code: 502, message: 'The model did not answer.', type: 'model_error', details: '' },
  RunMetadataEvent: { run_id: runId, thread_id: threadId },
  RunStartEvent: { status: 'starting' },
  SignupRequest: { email: 'ada@example.com', password: 'correct horse', first_name: 'Ada', last_name: 'Lovelace' },
  SuspendUserRequest: { reason: 'Sends spam through a public assistant.' },
  ThreadMaxRequest: { thread_max: 500 },
  ThreadPostRequest: { values: { messages: [{ type: 'human', content: question }] } },
  ThreadPutRequest: { name: 'Opening hours', assistant_id: assistantId, metadata: { ticket: '4711' } },
  UploadFilesRequest: { files: ['opening-hours.pdf'] },
  UserUpdateRequest: { first_name: 'Ada', last_name: 'Lovelace' },
  VerifyEmailRequest: { email: 'ada@example.com', code: '123456' },
}
