export type Import = { from: string; typeOnly: boolean }

/**
 * What a TypeScript file imports: `import … from`, `export … from`, bare `import '…'` and `import('…')`.
 * `import { type A, type B }` counts as types only. Comments are left out first, so that an example in
 * one is no import.
 */
export function importsOf(source: string): Import[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
  const statements = code.matchAll(/^\s*(?:import|export)\s+(type\s+)?(?:([\w*\s{},$]+?)\s+from\s+)?['"]([^'"]+)['"]/gm)
  const dynamic = code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)
  return [
    ...[...statements].map(([, type, names, from]) => ({
      from: from ?? '',
      typeOnly: type !== undefined || isTypesOnly(names),
    })),
    ...[...dynamic].map(([, from]) => ({ from: from ?? '', typeOnly: false })),
  ]
}

function isTypesOnly(names: string | undefined): boolean {
  const list = names && /^\{([^}]*)\}$/.exec(names.trim())?.[1]
  if (!list) return false
  return list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
    .every((name) => name.startsWith('type '))
}
