import { chmod, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { cached, installInCache } from './cache.ts'
import { findOnPath, run } from './command.ts'
import { downloadArchive } from './download.ts'
import { type Log, firstThatWorks } from './ways.ts'

const version = '1.38.0'
const cacheName = `temporal-test-server-${version}`
const program = 'temporal-test-server'
const variable = 'TEMPORAL_TEST_SERVER'

/**
 * Finds or installs the test server that skips time. Give the path to `@temporalio/testing`:
 * `createTimeSkipping({ server: { executable: { type: 'existing-path', path } } })`.
 */
export async function prepareTimeSkippingServer(log: Log): Promise<{ executablePath: string; source: string }> {
  const { value, source } = await firstThatWorks<string>('The time-skipping test server', variable, [
    { name: variable, attempt: async () => process.env[variable] || undefined },
    { name: 'PATH', attempt: () => findOnPath(program) },
    { name: 'cache', attempt: async () => inFolder(cached(cacheName)) },
    {
      name: 'official download',
      attempt: async () => inFolder(await installInCache(cacheName, log, (folder) => download(folder, log))),
    },
    {
      name: 'Maven Central',
      attempt: async () => inFolder(await installInCache(cacheName, log, (folder) => fromMaven(folder, log))),
    },
  ])
  return { executablePath: value, source }
}

const inFolder = (folder: string | undefined) => folder && path.join(folder, program)

async function download(folder: string, log: Log): Promise<void> {
  const platform = process.platform === 'darwin' ? 'macOS' : 'linux'
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const url = `https://github.com/temporalio/sdk-java/releases/download/v${version}/temporal-test-server_${version}_${platform}_${arch}.tar.gz`
  await downloadArchive(url, folder, { strip: 1, log })
}

async function fromMaven(folder: string, log: Log): Promise<void> {
  if (!(await findOnPath('java'))) throw new Error('no java on PATH')
  if (!(await findOnPath('mvn'))) throw new Error('no mvn on PATH')
  log(`fetching the time-skipping test server ${version} from Maven Central`)
  await writeFile(path.join(folder, 'pom.xml'), pom)
  await run('mvn', ['-B', '-q', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=lib'], {
    cwd: folder,
  })
  const launcher = path.join(folder, program)
  await writeFile(launcher, launcherScript(path.join(folder, 'lib')))
  await chmod(launcher, 0o755)
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
