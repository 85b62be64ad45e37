/** Fields of one form. */
const mostVariables = 20
const variable = /\{\{ *([^{}\n]{1,60}?) *\}\}/g

/** The names in double braces in a prompt, each once, in their order. */
export function variablesOf(prompt: string): string[] {
  const names = new Set<string>()
  for (const [, name = ''] of prompt.matchAll(variable)) {
    if (names.size >= mostVariables) break
    if (name.trim() !== '') names.add(name)
  }
  return [...names]
}

/** The prompt with what was written for each name; a name without a value keeps its braces. */
export function filled(prompt: string, values: ReadonlyMap<string, string>): string {
  return prompt.replaceAll(variable, (whole, name: string) => values.get(name) ?? whole)
}
