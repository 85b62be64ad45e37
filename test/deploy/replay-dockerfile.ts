import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { dockerfileEnv } from '../support/dockerfile-env.ts'
import { type RunOptions, runProgram } from './run-program.ts'

interface Stage {
  /** The folder that stands for `/`. */
  root: string
  workdir: string
  env: Record<string, string>
  user: string
  healthcheck: string[]
  command: string[]
}

export interface Replay {
  /** What is sent to the builder. */
  context: string
  /** Folders for the stages are made here. */
  folder: string
  /** What the base images have. */
  baseEnv: Record<string, string>
  /** Whether the builder is sent a path of the context: the rules of .dockerignore. */
  isSent(file: string): boolean
  /** Owns what `install -o node` makes. */
  owner: { uid: number; gid: number }
}

/**
 * Carries out the steps of a Dockerfile in folders instead of containers, for machines without a
 * container engine: each stage gets a folder in place of `/`. Knows the instructions that ours uses
 * and throws at any other. Programs, and what base images have in /etc, come from this machine;
 * absolute paths of the image in a RUN step are taken to be in the stage's folder.
 */
export async function replayDockerfile(file: string, replay: Replay): Promise<Stage> {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const { instruction, rest } of instructionsOf(await readFile(file, 'utf8'))) {
    if (instruction === 'FROM') {
      const [base = '', , name = 'final'] = rest.split(/\s+/)
      stage = await begin(name, stages.get(base), replay)
      stages.set(name, stage)
      continue
    }
    if (stage === undefined) throw new Error(`${instruction} before FROM`)
    await carryOut(stage, instruction, rest, stages, replay)
  }
  if (stage === undefined) throw new Error('The Dockerfile has no stage.')
  return stage
}

function instructionsOf(content: string): { instruction: string; rest: string }[] {
  return content
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [instruction = '', ...rest] = line.trim().split(/\s+/)
      return { instruction, rest: rest.join(' ') }
    })
}

async function begin(name: string, base: Stage | undefined, { folder, baseEnv }: Replay): Promise<Stage> {
  const root = path.join(folder, name)
  await mkdir(root, { recursive: true })
  if (base === undefined) return { root, workdir: '/', env: { ...baseEnv }, user: 'root', healthcheck: [], command: [] }
  await link(base.root, root)
  return { ...base, root, env: { ...base.env } }
}

async function carryOut(
  stage: Stage,
  instruction: string,
  rest: string,
  stages: Map<string, Stage>,
  replay: Replay,
): Promise<void> {
  const inside = (target: string) => path.join(stage.root, path.resolve(stage.workdir, target))
  switch (instruction) {
    case 'WORKDIR':
      stage.workdir = rest
      await mkdir(inside('.'), { recursive: true })
      return
    case 'ARG':
      for (const [name, value] of dockerfileEnv(rest)) stage.env[name] ??= value
      return
    case 'ENV':
      for (const [name, value] of dockerfileEnv(rest))
        stage.env[name] = value.replace(/^\/(?=data|tmp|app)/, `${stage.root}/`)
      return
    case 'COPY':
      return copy(rest.split(' '), stages, replay, inside)
    case 'RUN': {
      const { uid, gid } = replay.owner
      const command = rest
        .replaceAll(/(?<=\s)\/(?=data|app)/g, `${stage.root}/`)
        .replace('-o node -g node', `-o ${uid} -g ${gid}`)
      await run(command, { cwd: inside('.'), env: stage.env })
      return
    }
    case 'USER':
      stage.user = rest
      return
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(rest.slice(rest.indexOf('[')))
      return
    case 'CMD':
      stage.command = JSON.parse(rest)
      return
    case 'VOLUME':
    case 'EXPOSE':
      return
    default:
      throw new Error(`${instruction} is not known here`)
  }
}

async function copy(
  words: string[],
  stages: Map<string, Stage>,
  replay: Replay,
  inside: (target: string) => string,
): Promise<void> {
  const from = words[0]?.startsWith('--from=') ? stages.get(words.shift()?.slice('--from='.length) ?? '') : undefined
  const target = words.pop() ?? ''
  const intoFolder = target.endsWith('/') || words.length > 1
  for (const source of words) {
    if (from === undefined && !replay.isSent(source)) throw new Error(`.dockerignore keeps ${source} from the builder`)
    const to = intoFolder ? path.join(inside(target), path.basename(source)) : inside(target)
    await mkdir(path.dirname(to), { recursive: true })
    if (from === undefined) await runProgram('cp', ['-rT', path.join(replay.context, source), to])
    else if (source.startsWith('/etc/')) await runProgram('cp', ['-T', source, to])
    else await link(path.join(from.root, source), to)
  }
}

/** Stages only add files to what they copy from each other, so hard links do. */
async function link(from: string, to: string): Promise<void> {
  await runProgram('cp', ['-alT', from, to])
}

async function run(command: string, options: RunOptions): Promise<void> {
  await runProgram('/bin/sh', ['-euc', command], options)
}
