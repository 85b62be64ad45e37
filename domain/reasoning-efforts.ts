/** How hard a model thinks before it answers, in the words of the chat-completions API. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
