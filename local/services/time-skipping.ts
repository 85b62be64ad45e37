import { createHash } from 'node:crypto'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { waysByCache } from './cache.ts'
import { findOnPath, run } from './command.ts'
import { downloadArchive, sha256Of } from './download.ts'
import { type Log, firstThatWorks } from './ways.ts'

const version = '1.38.0'
const cacheName = `temporal-test-server-${version}`
const program = 'temporal-test-server'
const variable = 'TEMPORAL_TEST_SERVER'

/** The SHA-256 of what `sha256sum *` prints in the folder of its libraries from Maven Central. */
const libraries = 'bb7a46081eddc18177c24a06edde11c2776fe6707fb31f5a76f6f927a78ee9ec'

/** The SHA-256 of the released archives; elsewhere it comes from Maven Central. */
const archives: Record<string, string> = {
  linux_amd64: '41df834fe8e1ac59619e13908f41b63e4d1054f37634a2f89033d8cf6af71b96',
}

/**
 * Finds or installs the test server that skips time. Give the path to `@temporalio/testing`:
 * `createTimeSkipping({ server: { executable: { type: 'existing-path', path } } })`.
 */
export async function prepareTimeSkippingServer(log: Log): Promise<{ executablePath: string; source: string }> {
  const { value, source } = await firstThatWorks<string>('The time-skipping test server', variable, [
    { name: variable, attempt: async () => process.env[variable] || undefined },
    { name: 'PATH', attempt: () => findOnPath(program) },
    ...waysByCache(cacheName, log, inFolder, [
      { name: 'official download', install: (folder) => download(folder, log) },
      { name: 'Maven Central', install: (folder) => fromMaven(folder, log) },
    ]),
  ])
  return { executablePath: value, source }
}

const inFolder = (folder: string) => path.join(folder, program)

async function download(folder: string, log: Log): Promise<void> {
  const platform = process.platform === 'darwin' ? 'macOS' : 'linux'
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const system = `${platform}_${arch}`
  const url = `https://github.com/temporalio/sdk-java/releases/download/v${version}/temporal-test-server_${version}_${system}.tar.gz`
  await downloadArchive(url, folder, { sha256: archives[system], strip: 1, log })
}

async function fromMaven(folder: string, log: Log): Promise<void> {
  if (!(await findOnPath('java'))) throw new Error('no java on PATH')
  if (!(await findOnPath('mvn'))) throw new Error('no mvn on PATH')
  log(`fetching the time-skipping test server ${version} from Maven Central`)
  await writeFile(path.join(folder, 'pom.xml'), pom)
  await run(
    'mvn',
    [
      '-B',
      '-q',
      '--strict-checksums',
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
      '-DoutputDirectory=lib',
    ],
    {
      cwd: folder,
    },
  )
  const found = await sumOfFolder(path.join(folder, 'lib'))
  if (found !== libraries) throw new Error(`its libraries have the checksum ${found} instead of ${libraries}`)
  const launcher = path.join(folder, program)
  await writeFile(launcher, launcherScript(path.join(folder, 'lib')))
  await chmod(launcher, 0o755)
}

async function sumOfFolder(folder: string): Promise<string> {
  const sums = createHash('sha256')
  for (const name of (await readdir(folder)).toSorted()) {
    sums.update(`${await sha256Of(path.join(folder, name))}  ${name}\n`)
  }
  return sums.digest('hex')
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>temporal-test-server</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>
`

/**
 * The server also ends when the test process that started it is gone, so that a killed test leaves nothing behind.
 */
const launcherScript = (lib: string) => `#!/bin/sh
parent=$PPID
(while kill -0 "$parent" && kill -0 $$; do sleep 1; done; kill -KILL $$) >/dev/null 2>&1 &
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -cp '${lib}/*' io.temporal.testserver.TestServer "$@"
`
