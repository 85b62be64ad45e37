import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { describePython } from '../../infra/python/describe-python.ts'
import { startPythonProcess } from '../../infra/python/python-process.ts'
import { prepareCodePackages } from '../../local/services/code-packages.ts'
import type { CodeJob, CodeResult } from '../../services/code/interpreter.ts'
import { createCodeSessions } from '../../services/code/sessions.ts'

const limits = { memoryMb: 400, timeoutSeconds: 120 }
const sessions = (processes: number, cpuSeconds: number) =>
  createCodeSessions({ processes, description: '', start: () => startPythonProcess({ ...limits, cpuSeconds }) })
const interpreter = sessions(2, 60)
const strict = sessions(1, 2)
afterAll(() => Promise.all([interpreter.close(), strict.close()]))

const never = new AbortController().signal
let steps = 0

/** Sessions of a test: each call continues what the one before it has left. */
function session(on = interpreter, files: CodeJob['files'] = async () => []) {
  const name = `session-${++steps}`
  let executed: string | undefined
  return {
    async run(code: string, { after = executed, owner = 'ann', signal = never } = {}): Promise<CodeResult> {
      const becomes = `step-${++steps}`
      const result = await on.execute({ session: name, owner, code, files, after, becomes }, signal)
      executed = becomes
      return result
    },
  }
}

// A start takes seconds of processor time, so the tests share a session.
const { run } = session(interpreter, async () => [{ path: 'in/sales.csv', bytes: Buffer.from('a,b\n1,2\n') }])

describe('an interpreter', () => {
  it('prints, shows the last value, keeps variables and gives back what was written', async () => {
    const first = await run('import csv\nprint("é" * 3)\nrows = list(csv.reader(open("in/sales.csv")))\nrows')
    expect(first).toEqual({
      output: "ééé\n[['a', 'b'], ['1', '2']]\n",
      files: [],
      leftOut: [],
      isNew: true,
      seconds: expect.any(Number),
    })
    const second = await run('open("out.txt", "w").write("sum " + str(sum(map(int, rows[1]))))')
    expect(second).toMatchObject({ output: '5\n', isNew: false })
    expect(second.files.map(({ path, bytes }) => [path, bytes.toString()])).toEqual([['out.txt', 'sum 3']])
    // Unchanged, so it does not come again; a changed one does.
    const third = await run('open("in/sales.csv", "a").write("3,4\\n")')
    expect(third.files.map(({ path }) => path)).toEqual(['in/sales.csv'])
  })

  it('tells errors of Python with the lines of the code alone', async () => {
    const { error, output } = await run('print("before")\ndef half(x):\n    return x / 0\nhalf(1)')
    expect(output).toBe('before\n')
    expect(error).toMatch(/^Traceback \(most recent call last\):\n {2}File "code", line 4, in <module>/)
    expect(error).toMatch(/ZeroDivisionError: division by zero\n$/)
    expect((await run('half(')).error).toMatch(/SyntaxError/)
    expect(await run('import sys; sys.exit(3)')).toMatchObject({ output: '', isNew: false })
    expect((await run('input()')).error).toMatch(/EOFError/)
  })

  it('bounds what code prints and writes', async () => {
    const { output } = await run('print("a" * 1_000_000)')
    expect(output).toHaveLength(64 * 1024 + '\n[934465 more bytes were printed and are left out.]'.length)
    const { files, leftOut } = await run(`
import os
for n in range(20): open(f"{n:02}.txt", "w").write(str(n))
open("large.bin", "wb").write(bytes(9 * 1024 * 1024))
os.symlink("/lib", "link")
`)
    expect(files).toHaveLength(16)
    expect(leftOut).toEqual([
      '16.txt: more than 16 files were written',
      '17.txt: more than 16 files were written',
      '18.txt: more than 16 files were written',
      '19.txt: more than 16 files were written',
      'large.bin: it is larger than 8 MiB',
    ])
  })

  it('has nothing of the host, and no network, even where code breaks out of Python', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    try {
      const seen = await run(`
import os, js, socket, pyodide_js
print(sorted(os.listdir("/")), [n for n in ("process", "fetch", "eval") if hasattr(js, n)])
def attempt(name, work):
    try:
        print(name, "got", work())
    except BaseException as error:
        print(name, "refused", type(error).__name__)
def send():
    with socket.create_connection(("127.0.0.1", ${port}), 1) as there: there.send(b"hello")
# Every object of JavaScript leads to its constructor, and so to all of JavaScript.
def script(text):
    return pyodide_js.runPython.constructor(text)()
attempt("python file", lambda: open("/etc/passwd").read())
attempt("python socket", send)
attempt("file", lambda: script("return process.getBuiltinModule('fs').readFileSync('/etc/passwd', 'utf8')"))
attempt("folder", lambda: script("return process.getBuiltinModule('fs').readdirSync('/').join()"))
attempt("program", lambda: script("return process.getBuiltinModule('child_process').execSync('id') + ''"))
attempt("socket", lambda: script("return process.getBuiltinModule('net').connect(${port}, '127.0.0.1') + ''"))
attempt("variables", lambda: script("return JSON.stringify(Object.keys(process.env))"))
`)
      expect(seen.error).toBeUndefined()
      const lines = seen.output.split('\n')
      expect(lines[0]).toBe("['dev', 'home', 'lib', 'mnt', 'proc', 'tmp'] []")
      for (const name of ['python file', 'file', 'folder', 'program', 'socket'])
        expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${name} refused`)))
      expect(lines).toContain('variables got ["PATH"]')
      expect(connections).toBe(0)
    } finally {
      server.close()
    }
  })

  it('gives a place to another user while one keeps it busy, and ends what is cancelled', async () => {
    await run('x = 1')
    const stop = new AbortController()
    const busy = [run('while True: pass', { signal: stop.signal }), session().run('2', { signal: stop.signal })]
    const all = Promise.allSettled(busy)
    expect((await session().run('print("in time")', { owner: 'bob' })).output).toBe('in time\n')
    stop.abort(new Error('cancelled'))
    const ended = expect.objectContaining({ reason: new Error('cancelled') })
    expect(await all).toEqual([ended, ended])
    expect(await run('"x" in globals()')).toMatchObject({ output: 'False\n', isNew: true })
  })

  it('ends code that takes too long or too much memory, and begins anew with the files', async () => {
    const one = session(strict, async () => [{ path: 'kept.txt', bytes: Buffer.from('kept') }])
    await one.run('x = 1')
    const slow = await one.run('while True: pass')
    expect(slow).toMatchObject({ error: 'It took more than 2 seconds of processor time.', files: [], isNew: false })
    const after = await one.run('print("x" in globals(), open("kept.txt").read())')
    expect(after).toMatchObject({ output: 'False kept\n', isNew: true })
    const large = await one.run('whole = [bytearray(50_000_000) for _ in range(40)]')
    expect(large.error).toMatch(/memory/i)
  })

  it('continues a session only where it was left, and ends one whose place another needs', async () => {
    const one = session(strict)
    await one.run('x = 1')
    // Another worker has executed something in between.
    expect(await one.run('"x" in globals()', { after: 'elsewhere' })).toMatchObject({ output: 'False\n', isNew: true })
    expect(await session(strict).run('1')).toMatchObject({ isNew: true })
    expect(await one.run('1')).toMatchObject({ isNew: true })
  })
})

it('the packages that npm start brings work', async () => {
  const { value: packages } = await prepareCodePackages(() => undefined)
  expect(describePython(packages)).toContain('openpyxl')
  const start = () => startPythonProcess({ ...limits, cpuSeconds: 60 }, packages)
  const equipped = createCodeSessions({ processes: 1, description: '', start })
  const { output, files, error } = await session(equipped).run(
    [
      'import dateutil.parser, networkx, openpyxl, pygal, pypdf, sympy, tabulate, xlsxwriter',
      'book = openpyxl.Workbook()',
      'book.active.append(["berth", 48])',
      'book.save("fees.xlsx")',
      'bars = pygal.Bar()',
      'bars.add("Fees", [48, 50])',
      'bars.render_to_file("fees.svg")',
      'print(sympy.integrate(2 * sympy.Symbol("x"), sympy.Symbol("x")), dateutil.parser.parse("28 Nov 2026").date())',
      'print(openpyxl.load_workbook("fees.xlsx").active["B1"].value, networkx.path_graph(3).number_of_edges())',
    ].join('\n'),
  )
  await equipped.close()
  expect(error).toBeUndefined()
  expect(output).toBe('x**2 2026-11-28\n48 2\n')
  expect(files.map(({ path }) => path)).toEqual(['fees.svg', 'fees.xlsx'])
})
