/** The variables that the text behind `ENV` in a Dockerfile sets, with the quotes of their values removed. */
export const dockerfileEnv = (text: string): [name: string, value: string][] =>
  [...text.matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/g)].map(([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''])
