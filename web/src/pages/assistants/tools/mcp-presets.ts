import { assistantMessages } from '../../../texts/assistant.ts'

const t = assistantMessages.tools.gallery

interface McpPreset {
  /** The name of its tools begins with it. */
  name: string
  title: string
  text: string
  url: string
  /** Whether one logs in with the browser. */
  hasLogin: boolean
}

/** Servers that answer to anybody, or let programs register themselves, as their makers say. */
export const mcpPresets: McpPreset[] = [
  { name: 'notion', title: 'Notion', text: t.notion, url: 'https://mcp.notion.com/mcp', hasLogin: true },
  { name: 'linear', title: 'Linear', text: t.linear, url: 'https://mcp.linear.app/mcp', hasLogin: true },
  { name: 'atlassian', title: 'Atlassian', text: t.atlassian, url: 'https://mcp.atlassian.com/v1/mcp', hasLogin: true },
  { name: 'sentry', title: 'Sentry', text: t.sentry, url: 'https://mcp.sentry.dev/mcp', hasLogin: true },
  { name: 'stripe', title: 'Stripe', text: t.stripe, url: 'https://mcp.stripe.com', hasLogin: true },
  {
    name: 'hugging_face',
    title: 'Hugging Face',
    text: t.huggingFace,
    url: 'https://huggingface.co/mcp',
    hasLogin: false,
  },
  { name: 'deepwiki', title: 'DeepWiki', text: t.deepwiki, url: 'https://mcp.deepwiki.com/mcp', hasLogin: false },
  { name: 'context7', title: 'Context7', text: t.context7, url: 'https://mcp.context7.com/mcp', hasLogin: false },
]
