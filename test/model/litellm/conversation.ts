/**
 * A conversation with instructions, a picture, thinking with a signature, two calls at once and their results, in the
 * form in which LiteLLM takes it.
 */
export const conversation = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this, and how is the weather?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look it up.',
      thinking_blocks: [{ type: 'thinking', thinking: 'The user asks for the weather.', signature: 'c2lnbmF0dXJl' }],
      tool_calls: [
        { id: 'callParis', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
        { id: 'callRome1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'callParis', content: 'Sunny' },
    { role: 'tool', tool_call_id: 'callRome1', content: 'Rain' },
    { role: 'user', content: 'And tomorrow?' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'weather',
        description: 'The weather in a city.',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ],
} as const
