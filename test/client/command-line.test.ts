import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../local/services/command.ts'
import { joinProject } from '../projects/joined.ts'
import { useModelService } from '../support/model-service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { type TestUser, insertUser, newEmail } from '../support/users.ts'

const client = path.join(import.meta.dirname, '../../client')

/** The packed package, installed as its users do, and its program against one service. */
describe('the command line', () => {
  const service = useModelService()
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>
  let folder: string
  let program: string
  let user: TestUser
  const children = new Set<ChildProcess>()

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'assistant-cli-'))
    await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: client })
    const app = path.join(folder, 'app')
    await mkdir(app)
    await writeFile(path.join(app, 'package.json'), '{"name":"app","private":true}')
    const tarball = path.join(folder, 'assistant-platform-client-1.0.0.tgz')
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball], {
      cwd: app,
    })
    program = path.join(app, 'node_modules/.bin/assistant')
    proxy = await startTcpProxy(new URL(service.url).host)
    user = await insertUser(service)
  })
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL')
    children.clear()
  })
  afterAll(async () => {
    await proxy?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const env = (more: object = {}) => ({
    PATH: process.env['PATH'],
    HOME: folder,
    ASSISTANT_URL: service.url,
    ASSISTANT_TOKEN: user.token,
    ...more,
  })

  /** Starts the program. `said` has what it printed so far; `ended` the end. */
  function start(args: string[], more: object = {}) {
    const child = spawn(program, args, { env: env(more), stdio: 'pipe' })
    children.add(child)
    const said = { out: '', err: '' }
    child.stdout.on('data', (bytes: Buffer) => (said.out += bytes.toString()))
    child.stderr.on('data', (bytes: Buffer) => (said.err += bytes.toString()))
    const ended = once(child, 'close').then(([code]) => ({ code: code as number, ...said }))
    const until = async (stream: 'out' | 'err', text: string | RegExp) => {
      while (said[stream].search(text) < 0) await once(stream === 'out' ? child.stdout : child.stderr, 'data')
      return said[stream]
    }
    return { child, ended, until }
  }

  async function call(args: string[], { input = '', ...more }: { input?: string; [name: string]: unknown } = {}) {
    const { child, ended } = start(args, more)
    child.stdin.end(input)
    return ended
  }

  it('is a module that can be imported, too', async () => {
    const script = "import('@assistant-platform/client').then((m) => console.log(Object.keys(m).sort().join()))"
    const said = await run(process.execPath, ['-e', script], { cwd: path.join(folder, 'app') })
    expect(said.trim()).toBe('ApiError,createClient,foldMessages,followRun,parseEvent,readEvents,streamRun,unwrap')
  })

  it('helps, refuses wrong use in one sentence, and completes', async () => {
    const help = await call(['--help'])
    expect(help).toMatchObject({ code: 0, err: '' })
    for (const name of ['login', 'ask', 'chat', 'files push', 'assistants apply', 'runs watch', 'completion'])
      expect(help.out).toContain(`  ${name}`)
    expect((await call(['assistants', 'apply', '--help'])).out).toContain('-f, --file FILE')
    expect(await call(['sing'])).toMatchObject({ code: 2, err: expect.stringMatching(/^assistant: .*"sing".*\n$/) })
    expect(await call(['ask', 'x', '--loud'])).toMatchObject({ code: 2, err: expect.stringContaining('--loud') })
    expect(await call(['ask', 'x'], { ASSISTANT_TOKEN: '' })).toMatchObject({ code: 3 })
    expect(await call(['ask', 'x'], { ASSISTANT_URL: 'http://127.0.0.1:1' })).toMatchObject({
      code: 5,
      err: 'assistant: The service cannot be reached.\n',
    })
    const completion = await call(['completion', 'bash'])
    const asked = `${completion.out}\nCOMP_WORDS=(assistant assistants a); COMP_CWORD=2; _assistant; echo "\${COMPREPLY[@]}"`
    expect(spawnSync('bash', ['-c', asked], { encoding: 'utf8' }).stdout.trim()).toBe('apply')
    for (const shell of ['zsh', 'fish']) expect((await call(['completion', shell])).out).toContain('assistant')
  })

  it('logs in with a code that is confirmed once, and out again', async () => {
    const config = path.join(folder, 'config')
    const stored = path.join(config, 'assistant-platform/credentials.json')
    const own = { ASSISTANT_TOKEN: '', XDG_CONFIG_HOME: config, ASSISTANT_LOGIN_INTERVAL_MS: '50' }
    const logging = start(['login'], own)
    const said = await logging.until('out', /code: \S+\n/)
    const code = /code: ([A-Z]{4}-[A-Z]{4})\n/.exec(said)?.[1] ?? ''
    expect(said).toContain(`/console/login-code?code=${code}`)
    const asking = await user.post('/user/login-codes/find', { code: code.toLowerCase() })
    expect(asking.name).toMatch(/^assistant on /)
    const kept = await service.collections.programLogins.find().lean()
    expect(JSON.stringify(kept)).not.toContain(code.replace('-', ''))
    await user.post('/user/login-codes/decide', { code, allow: true })
    expect(await logging.ended).toMatchObject({ code: 0, out: expect.stringContaining('You are logged in') })
    expect((await user.call('POST', '/user/login-codes/decide', { code, allow: true })).status).toBe(404)

    expect((await stat(stored)).mode & 0o777).toBe(0o600)
    const { tokens } = JSON.parse(await readFile(stored, 'utf8')) as { tokens: Record<string, string> }
    const token = tokens[service.url] ?? ''
    expect(token).not.toBe(user.token)
    expect(await call(['assistants', 'list'], own)).toMatchObject({ code: 0 })
    // Never to another service.
    expect(await call(['assistants', 'list', '--url', `http://${proxy.address}`], own)).toMatchObject({ code: 3 })

    const [login] = await user.get('/user/logins')
    expect(login).toMatchObject({ name: asking.name, last_used_at: expect.any(String) })
    const project = await fetch(`${service.url}/projects/${user.projectId}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { jwt_token: ofProject } = (await project.json()) as { jwt_token: string }
    expect(await call(['logout'], own)).toMatchObject({ code: 0 })
    expect(await user.get('/user/logins')).toEqual([])
    await expect(stat(stored)).rejects.toThrow('ENOENT')
    for (const ended of [token, ofProject])
      expect(await call(['assistants', 'list'], { ASSISTANT_TOKEN: ended })).toMatchObject({
        code: 3,
        err: 'assistant: This login was ended. Log in again.\n',
      })
  })

  it('says so when a login is refused, and when its code is over', async () => {
    const own = { ASSISTANT_TOKEN: '', XDG_CONFIG_HOME: path.join(folder, 'none'), ASSISTANT_LOGIN_INTERVAL_MS: '50' }
    const decide = async (decided: (code: string) => Promise<unknown>) => {
      const logging = start(['login'], own)
      const code = /code: (\S+)\n/.exec(await logging.until('out', /code: \S+\n/))?.[1] ?? ''
      await decided(code)
      return logging.ended
    }
    expect(await decide((code) => user.post('/user/login-codes/decide', { code, allow: false }))).toMatchObject({
      code: 3,
      err: 'assistant: The login was refused.\n',
    })
    const over = { $set: { remove_at: new Date(0) } }
    expect(
      await decide(() => service.collections.programLogins.updateMany({ status: 'waiting' }, over).exec()),
    ).toMatchObject({ code: 3, err: expect.stringContaining('no longer valid') })
  })

  it('applies a file, twice without a change, uploads its sources, and answers from them', async () => {
    const work = path.join(folder, 'work')
    await mkdir(path.join(work, 'more'), { recursive: true })
    const file = path.join(work, 'harbour.yaml')
    await writeFile(
      file,
      'assistant: Harbour\nversion: 1\nsystem_message: Answer from the files.\nsources:\n  files:\n    - name: hours.txt\n',
    )
    await writeFile(path.join(work, 'hours.txt'), 'The harbour opens at six.')
    // The file may come from somebody else: it cannot name what holds keys, or lies elsewhere.
    const elsewhere = path.join(folder, 'elsewhere.txt')
    await writeFile(elsewhere, 'KEY=secret')
    await symlink(elsewhere, path.join(work, 'link.txt'))
    const keys = ['.env', '.notes.txt', 'id_rsa', 'service-account.json']
    for (const name of keys) await writeFile(path.join(work, name), 'KEY=secret')
    const greedy = path.join(work, 'greedy.yaml')
    const wanted = [...keys, 'link.txt', '../elsewhere.txt'].map((name) => `    - name: ${name}\n`)
    await writeFile(greedy, `assistant: Greedy\nversion: 1\nsources:\n  files:\n${wanted.join('')}`)
    const refused = await call(['assistants', 'apply', '-f', greedy, '--with-files'])
    expect(refused).toMatchObject({ code: 0, out: 'Greedy: created\n' })
    for (const name of keys) expect(refused.err).toContain(`Missing file: ${name}`)
    expect(refused.err).toContain('Only documents that lie beside the file')
    expect(await service.collections.files.countDocuments({ name: /env|notes|id_rsa|account|link|elsewhere/ })).toBe(0)
    await writeFile(path.join(work, 'more', 'fees "A".txt'), 'A berth costs ten.')
    expect(await call(['assistants', 'apply', '-f', file, '--with-files'])).toMatchObject({
      code: 0,
      out: 'Harbour: created\nhours.txt: ready\n',
    })
    expect(await call(['assistants', 'apply', '-f', '-'], { input: await readFile(file, 'utf8') })).toMatchObject({
      code: 0,
      out: 'Harbour: unchanged\n',
      err: '',
    })
    const pushed = await call(['files', 'push', path.join(work, 'more'), '--assistant', 'Harbour'])
    expect(pushed).toMatchObject({ code: 0, out: expect.stringMatching(/^fees .*A.*\.txt: ready\n$/) })
    const exported = await call(['assistants', 'export', 'Harbour'])
    expect(exported.out).toMatch(/^assistant: Harbour\nversion: 1\nsystem_message: Answer from the files.\nsources:\n/)
    expect(
      await call(['assistants', 'apply', '-f', '-'], { input: 'assistant: X\nversion: 1\nmodle: y\n' }),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining('modle'),
    })

    service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: JSON.stringify({ query: 'opening' }) }] })
    service.model.reply({ text: ['At \u001b[31msix\u001b[0m', '\u001b]0;title\u0007 (hours.txt).'] })
    const answered = await call(['ask', 'When does it open?', '-a', 'Harbour'])
    expect(answered).toMatchObject({ code: 0, err: '' })
    expect(answered.out).toMatch(/^At six \(hours\.txt\)\.\n\nSources:\n- /)
    expect(answered.out).toContain('- hours.txt')
    service.model.reply({ text: 'Six.' })
    const asJson = await call(['ask', '-', '-a', 'Harbour', '--json'], { input: 'When?' })
    expect(JSON.parse(asJson.out)).toMatchObject({ status: 'success', text: 'Six.', sources: [] })
  })

  it('chats by its standard input in one thread, and cancels an answer by Ctrl-C', async () => {
    await user.post('/assistants/', { name: 'Talker' })
    const never = Promise.withResolvers<void>()
    service.model.reply({ text: 'Hello Ada.' })
    service.model.reply({ text: ['Once upon ', never.promise, 'a time'] })
    const chatting = start(['chat', '--assistant', 'Talker'])
    chatting.child.stdin.write('I am Ada\n')
    await chatting.until('out', 'Hello Ada.\n')
    chatting.child.stdin.write('Tell me more\n')
    await chatting.until('out', 'Once upon ')
    chatting.child.kill('SIGINT')
    await chatting.until('err', 'cancelled')
    never.resolve()
    chatting.child.stdin.end()
    const { code, err } = await chatting.ended
    expect(code).toBe(0)
    const threadId = /--thread (\S+)/.exec(err)?.[1] ?? ''
    const { values } = await user.get(`/threads/${threadId}/state`)
    expect(values.messages.slice(0, 2).map(({ data }: any) => data.content)).toEqual(['I am Ada', 'Hello Ada.'])
    const runs = await service.collections.runs.find({ thread_id: threadId }).sort({ created_at: 1 }).lean()
    expect(runs.map(({ status }) => status)).toEqual(['success', 'cancelled'])
  })

  it('watches a run through a connection that is cut', async () => {
    const goOn = Promise.withResolvers<void>()
    service.model.reply({ text: ['The harbour ', goOn.promise, 'opens at six.'] })
    const { assistant_id } = await user.post('/assistants/', { name: 'Watched' })
    const { thread_id } = await user.post('/threads/', { name: 'Talk' })
    const input = [{ type: 'human', content: 'When?' }]
    const { run_id } = await user.post('/runs/', { assistant_id, thread_id, input })
    const watching = start(['runs', 'watch', run_id, '--url', `http://${proxy.address}`])
    await watching.until('out', 'The harbour ')
    proxy.refuse()
    await watching.until('err', 'connection is lost')
    proxy.restore()
    goOn.resolve()
    expect(await watching.ended).toMatchObject({ code: 0, out: 'The harbour opens at six.\n' })
  })

  it('invites, lists, changes and removes the people of a project', async () => {
    const owner = await insertUser(service)
    const more = { ASSISTANT_TOKEN: owner.token }
    const email = newEmail()
    expect(await call(['members', 'add', email, '--role', 'boss'], more)).toMatchObject({ code: 2 })
    const added = await call(['members', 'add', email, '-r', 'editor'], more)
    expect(added).toEqual({
      code: 0,
      err: '',
      out: `An invitation into "main" as editor is on its way to ${email}.\n`,
    })
    expect((await call(['invitations', 'list'], more)).out).toMatch(new RegExp(`^${email}\teditor\t20\\d\\d-`))
    expect((await call(['members', 'list'], more)).out).toBe(`${owner.email}\towner\t\n`)
    expect(await call(['invitations', 'revoke', email], more)).toMatchObject({ code: 0 })
    expect((await call(['invitations', 'list', '--json'], more)).out).toBe('[]\n')
    expect(await call(['invitations', 'revoke', email], more)).toMatchObject({ code: 1 })

    const member = await joinProject(service, owner.projectId, 'viewer')
    const ofProject = ['--project', owner.projectId]
    expect((await call(['members', 'role', member.email, 'member', ...ofProject], more)).out).toBe(
      `${member.email}: member\n`,
    )
    const own = { ASSISTANT_TOKEN: member.token }
    expect(await call(['members', 'add', email], own)).toMatchObject({
      code: 1,
      err: 'assistant: Your role in this project is member: this needs the role owner.\n',
    })
    expect((await call(['members', 'remove', owner.email], more)).err).toContain('last owner')
    expect(await call(['members', 'remove', member.email], own)).toMatchObject({ code: 0 })
    expect((await call(['members', 'list'], own)).err).toContain('Name a project with --project.')
  })

  it('ends with the failure of a run', async () => {
    await user.post('/assistants/', { name: 'Failing' })
    service.model.reply({ status: 400, errorMessage: 'no such model' })
    const { code, err } = await call(['ask', 'Hi', '-a', 'Failing'])
    expect([code, err]).toEqual([1, expect.stringMatching(/^assistant: .+\n$/)])
  })
})
