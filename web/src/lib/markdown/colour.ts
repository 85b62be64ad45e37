import rehypeHighlight from 'rehype-highlight'
import { unified } from 'unified'

/** Of each line: a class (empty for none) and a text, in turn. */
export type ColouredLine = string[]

type Tree = Parameters<ReturnType<typeof rehypeHighlight>>[0]
type TreeNode = Tree['children'][number]

const processor = unified().use(rehypeHighlight, { detect: false })

/** Source code in colours. Undefined if its language is not known. */
export function colour(text: string, language: string): ColouredLine[] | undefined {
  const code = {
    type: 'element' as const,
    tagName: 'code',
    properties: { className: [`language-${language}`] },
    children: [{ type: 'text' as const, value: text }],
  }
  const tree: Tree = {
    type: 'root',
    children: [{ type: 'element', tagName: 'pre', properties: {}, children: [code] }],
  }
  // The tree itself is changed.
  processor.runSync(tree)
  const pre = tree.children[0]
  const done = pre?.type === 'element' ? pre.children[0] : undefined
  if (done?.type !== 'element' || done.children.every(({ type }) => type === 'text')) return undefined
  const lines: ColouredLine[] = [[]]
  const add = (name: string, value: string) => {
    for (const [index, piece] of value.split('\n').entries()) {
      if (index > 0) lines.push([])
      if (piece !== '') lines.at(-1)?.push(name, piece)
    }
  }
  const visit = (nodes: TreeNode[], name: string): void => {
    for (const node of nodes) {
      if (node.type === 'text') add(name, node.value)
      else if (node.type === 'element') visit(node.children, classOf(node.properties['className']) || name)
    }
  }
  visit(done.children, '')
  return lines
}

const classOf = (value: unknown): string => (Array.isArray(value) ? value.join(' ') : '')
