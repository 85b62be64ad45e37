import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type Schemas, queryClient } from '../../lib/api.ts'
import { limits } from '../../lib/foreign-chats/chat.ts'
import type { ConvertAnswer, ConvertRequest } from '../../lib/foreign-chats/convert-worker.ts'
import { formatBytes } from '../../lib/format.ts'
import { sendBody } from '../../lib/send-body.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { dataMessages } from '../../texts/data.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { FileField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ProgressBar } from '../../ui/states.tsx'
import { ImportReport } from './import-report.tsx'

const t = dataMessages.foreign
const names = {
  chatgpt: { project: 'ChatGPT', assistant: t.assistant, untitled: texts.chat.untitled },
  claude: { project: 'Claude', assistant: t.assistant, untitled: texts.chat.untitled },
  librechat: { project: 'LibreChat', assistant: t.assistant, untitled: texts.chat.untitled },
}

type Converted = Extract<ConvertAnswer, { archive: Blob }>
interface Done {
  report: Schemas['ImportReport']
  converted: Converted
}

/** Takes the chats of other services: their file becomes an archive in the browser, which the service then imports. */
export function ForeignImport() {
  const [file, setFile] = useState<File>()
  const [progress, setProgress] = useState<number>()
  const [done, setDone] = useState<Done>()
  const form = useSubmit(async () => {
    if (!file) return
    setDone(undefined)
    setProgress(undefined)
    const converted = await convert({ file, names })
    if ('problem' in converted)
      throw new Error(
        converted.problem === 'tooLarge' ? t.tooLarge(formatBytes(limits.fileBytes)) : t.problems[converted.problem],
      )
    const archive = new File([converted.archive], 'chats.tar.gz')
    const options = { contentType: 'application/octet-stream', onProgress: setProgress }
    try {
      setDone({ report: await sendBody<Done['report']>('/user/import', archive, options), converted })
    } finally {
      await queryClient.invalidateQueries()
    }
  })
  return (
    <form className="card form" onSubmit={form.onSubmit}>
      <h2>{t.title}</h2>
      <p className="muted">{t.text}</p>
      <FileField
        label={t.file}
        help={t.fileHelp}
        accept=".zip,.json,application/zip,application/json"
        disabled={form.isBusy}
        onFile={setFile}
      />
      {form.isBusy && (
        <div className="stack-tight" role="status">
          <span className="small muted">{progress === undefined ? t.reading : dataMessages.storing}</span>
          <ProgressBar value={progress ?? 0} label={t.title} />
        </div>
      )}
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button type="submit" busy={form.isBusy} disabled={file === undefined}>
          {t.import}
        </Button>
      </div>
      {done && <Outcome {...done} />}
    </form>
  )
}

function Outcome({ report, converted: { source, chats, left } }: Done) {
  const hasRefused = hasSome(report.refused)
  const lines = [
    left.files > 0 && t.left.files(left.files),
    left.chats > 0 && t.left.chats(left.chats),
    left.branches > 0 && t.left.branches(left.branches),
    left.cut > 0 && t.left.cut(left.cut),
  ].filter((line) => line !== false)
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    element.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div ref={element} className="stack-small">
      <Notice tone={hasRefused ? 'warn' : 'ok'}>
        {t.found(chats, names[source].project)} <Link to="/console/projects">{t.open}</Link>
      </Notice>
      {lines.length > 0 && (
        <ul className="stack-tight small">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      <details open={hasRefused || hasSome(report.existing)}>
        <summary>{dataMessages.report}</summary>
        <ImportReport report={report} />
      </details>
    </div>
  )
}

const hasSome = (counts: Record<string, number>) => Object.values(counts).some((amount) => amount > 0)

/** A large file takes its time: not in the thread of the page. */
function convert(request: ConvertRequest): Promise<ConvertAnswer> {
  const worker = new Worker(new URL('../../lib/foreign-chats/convert-worker.ts', import.meta.url), {
    type: 'module',
    name: 'chats',
  })
  return new Promise<ConvertAnswer>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<ConvertAnswer>) => resolve(data))
    worker.addEventListener('error', () => reject(new Error(t.problems.json)))
    worker.postMessage(request)
  }).finally(() => worker.terminate())
}
