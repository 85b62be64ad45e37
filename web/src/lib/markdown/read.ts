import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { type PluggableList, unified } from 'unified'
import { htmlAsText, numberColumns, ownDirections } from './answer-tree.ts'
import { isTooDense } from './bounds.ts'
import { withMathDelimiters } from './math-delimiters.ts'

type Tree = Parameters<ReturnType<typeof rehypeSanitize>>[0]
type TreeNode = Tree['children'][number]

/** An element with its attributes as React names them, or text. Small, because it is copied from thread to thread. */
export type Written = string | [tag: string, attributes: Record<string, string | number | boolean>, children: Written[]]

/** Elements that a page shows at once. */
const mostElements = 6000

// The prefix separates ids in the text from those of the page; citations do not link to ids.
const schema = {
  ...defaultSchema,
  clobberPrefix: 'answer-',
  attributes: {
    ...defaultSchema.attributes,
    code: [['className', /^language-./, 'math-inline', 'math-display'] as [string, RegExp, string, string]],
  },
}

/** With further plugins for Markdown. */
const processorWith = (plugins: PluggableList) =>
  unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(plugins)
    .use(remarkRehype, { allowDangerousHtml: true })
    .use(htmlAsText)
    .use(rehypeSanitize, schema)
    .use(numberColumns)
    .use(ownDirections)

const plain = processorWith([])
/** With formulas; loaded with the first text that has one. */
let withFormulas: Promise<typeof plain> | undefined

/** What a text says in Markdown, without HTML. Undefined: it is shown as it is, because it would take too long. */
export async function readMarkdown(text: string): Promise<Written[] | undefined> {
  if (isTooDense(text)) return undefined
  const prepared = /\$|\\[([]/.test(text) ? withMathDelimiters(text) : undefined
  const processor = prepared === undefined ? plain : await (withFormulas ??= loadFormulas())
  const markdown = prepared ?? text
  const tree: Tree = processor.runSync(processor.parse(markdown))
  const left = { elements: mostElements }
  const written = tree.children.flatMap((node) => writtenOf(node, left))
  return left.elements < 0 ? undefined : written
}

async function loadFormulas(): Promise<typeof plain> {
  const { default: remarkMath } = await import('remark-math')
  return processorWith([[remarkMath, { singleDollarTextMath: false }]])
}

function writtenOf(node: TreeNode, left: { elements: number }): Written[] {
  if (node.type === 'text') return [node.value]
  if (node.type !== 'element') return []
  left.elements -= 1
  if (left.elements < 0) return []
  const attributes: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(node.properties)) {
    if (value === null || value === undefined) continue
    attributes[attributeName(name)] = Array.isArray(value) ? value.join(' ') : value
  }
  return [[node.tagName, attributes, node.children.flatMap((child) => writtenOf(child, left))]]
}

/** `dataFootnoteRef` is `data-footnote-ref` in React, too. */
const attributeName = (name: string) =>
  /^(?:data|aria)[A-Z]/.test(name) ? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name
