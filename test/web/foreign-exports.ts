/** Exports of other services in the forms that these write, by hand. */

const node = (id: string, parent: string | null, message: object | null) => ({ id, parent, children: [], message })

const said = (role: string, text: string, more: object = {}) => ({
  id: 'ignored',
  author: { role, name: null, metadata: {} },
  create_time: 1_740_816_000.5,
  update_time: null,
  content: { content_type: 'text', parts: [text] },
  status: 'finished_successfully',
  end_turn: true,
  weight: 1,
  metadata: { model_slug: 'gpt-4o' },
  recipient: 'all',
  channel: null,
  ...more,
})

const ofNodes = (...nodes: ReturnType<typeof node>[]) => Object.fromEntries(nodes.map((one) => [one.id, one]))

/** `conversations.json` of ChatGPT. */
export const chatGptExport = [
  {
    title: 'Berths',
    create_time: 1_740_816_000,
    update_time: 1_740_816_600,
    conversation_id: '67c2b1a0-0000-8000-8000-000000000001',
    id: '67c2b1a0-0000-8000-8000-000000000001',
    current_node: 'a3',
    is_archived: false,
    mapping: ofNodes(
      node('client-created-root', null, null),
      node(
        's1',
        'client-created-root',
        said('system', '', { metadata: { is_visually_hidden_from_conversation: true } }),
      ),
      node(
        'q1',
        's1',
        said('user', '', {
          content: {
            content_type: 'multimodal_text',
            parts: [
              { content_type: 'image_asset_pointer', asset_pointer: 'file-service://file-Ab1' },
              // Another form of the address, of a file that the archive does not have.
              { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_00cd' },
              'What does a berth cost?',
            ],
          },
        }),
      ),
      node('a0', 'q1', said('assistant', 'I do not know.')),
      node(
        't1',
        'q1',
        said('assistant', 'search("berth")', { recipient: 'web', content: { content_type: 'code', text: 'x' } }),
      ),
      node('t2', 't1', said('tool', 'found')),
      node('a1', 't2', said('assistant', 'It costs 48 marks\ue200cite\ue202turn0search0\ue201.')),
      node('q2', 'a1', said('user', 'And a crane?')),
      node('a3', 'q2', said('assistant', 'A crane costs 80 marks.')),
    ),
  },
  {
    title: 'Old',
    create_time: 1_704_067_200,
    update_time: 1_704_067_200,
    id: 'old',
    current_node: 'a',
    is_archived: true,
    mapping: ofNodes(node('q', null, said('user', 'Hello')), node('a', 'q', said('assistant', 'Good day.'))),
  },
  { title: 'Empty', create_time: 1, mapping: ofNodes(node('r', null, null)), current_node: 'r' },
]

const root = '00000000-0000-4000-8000-000000000000'
const written = (uuid: string, sender: string, text: string, more: object = {}) => ({
  uuid,
  sender,
  text,
  content: [{ type: 'text', text, citations: [], start_timestamp: null, stop_timestamp: null }],
  created_at: '2025-05-04T10:00:00.000000Z',
  updated_at: '2025-05-04T10:00:00.000000Z',
  attachments: [],
  files: [],
  ...more,
})

/** `conversations.json` of Claude: the first as older exports are, without parents. */
export const claudeExport = [
  {
    uuid: 'b7a0e6f2-0000-4000-8000-000000000001',
    name: 'Tides',
    created_at: '2025-05-04T10:00:00.000000Z',
    updated_at: '2025-05-04T10:05:00.000000Z',
    account: { uuid: 'account' },
    chat_messages: [
      written('m1', 'human', 'When is high water?', {
        attachments: [
          { file_name: 'tides.txt', file_size: 11, file_type: 'text/plain', extracted_content: '```06:12```' },
        ],
        files: [{ file_name: 'photo.jpg' }],
      }),
      written('m2', 'assistant', '', {
        content: [
          { type: 'thinking', thinking: 'I read the table.' },
          { type: 'text', text: 'At 6:12, says the table.' },
          { type: 'tool_use', name: 'x', input: {} },
        ],
      }),
    ],
  },
  {
    uuid: 'b7a0e6f2-0000-4000-8000-000000000002',
    name: '',
    created_at: '2025-05-05T10:00:00Z',
    updated_at: '2025-05-05T10:00:00Z',
    account: { uuid: 'account' },
    chat_messages: [
      written('p1', 'human', 'Draft a letter', { parent_message_uuid: root }),
      written('p2', 'assistant', 'Dear …', { parent_message_uuid: 'p1' }),
      written('p3', 'human', 'Longer', { parent_message_uuid: 'p2' }),
      written('p4', 'human', 'Shorter', { parent_message_uuid: 'p2' }),
    ],
  },
]

const noParent = '00000000-0000-0000-0000-000000000000'
const line = (messageId: string, parentMessageId: string, isCreatedByUser: boolean, text: string) => ({
  messageId,
  parentMessageId,
  conversationId: 'c1',
  isCreatedByUser,
  sender: isCreatedByUser ? 'User' : 'Model',
  text,
  createdAt: '2025-06-01T09:00:00.000Z',
})
const question = line('l1', noParent, true, 'Name a knot')
const answers = [
  line('l2', 'l1', false, 'A reef knot.'),
  { ...line('l3', 'l1', false, ''), content: [{ type: 'text', text: { value: 'A bowline.' } }] },
]
const about = {
  conversationId: 'c1',
  endpoint: 'openAI',
  title: 'Knots',
  exportAt: '10:00:00',
  branches: true,
  options: {},
}

/** Files of LibreChat: a list, and a tree. */
export const libreChatExport = [
  { ...about, recursive: false, messages: [question, ...answers] },
  { ...about, recursive: true, messages: [{ ...question, children: answers }] },
]
