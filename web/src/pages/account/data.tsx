import { useState } from 'react'
import { type Schemas, api, queryClient, unwrap } from '../../lib/api.ts'
import { formatBytes, formatDateTime } from '../../lib/format.ts'
import { sendBody } from '../../lib/send-body.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { useTitle } from '../../lib/use-title.ts'
import { dataMessages } from '../../texts/data.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { FileField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ProgressBar } from '../../ui/states.tsx'
import { ForeignImport } from './foreign-import.tsx'
import { ImportReport } from './import-report.tsx'

const t = dataMessages
type Report = Schemas['ImportReport']

/** Export of all data of the account, and import of such an archive. */
export function AccountData() {
  useTitle(texts.data.title)
  return (
    <div className="page">
      <header>
        <h1>{texts.data.title}</h1>
        <p className="muted">{t.text}</p>
      </header>
      <Export />
      <Import />
      <ForeignImport />
    </div>
  )
}

function Export() {
  const [link, setLink] = useState<Schemas['ExportLink']>()
  const form = useSubmit(async () => setLink(await unwrap(api.POST('/user/export'))))
  return (
    <section className="card stack-small">
      <h2>{t.exportTitle}</h2>
      <p className="muted">{t.exportText}</p>
      {link && (
        <Notice tone="ok">
          <a href={pathOf(link.url)} download>
            {t.download}
          </a>{' '}
          {t.validUntil(formatDateTime(link.expires_at))}
        </Notice>
      )}
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button busy={form.isBusy} onClick={() => void form.submit()}>
          {t.makeLink}
        </Button>
      </div>
    </section>
  )
}

/** The console has the same address as the service that made the link. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

function Import() {
  const [file, setFile] = useState<File>()
  const [progress, setProgress] = useState(0)
  const [report, setReport] = useState<Report>()
  const form = useSubmit(async () => {
    if (!file) return
    setReport(undefined)
    setProgress(0)
    try {
      const options = { contentType: 'application/octet-stream', onProgress: setProgress }
      setReport(await sendBody<Report>('/user/import', file, options))
    } finally {
      // A part may have been imported before a fault.
      await queryClient.invalidateQueries()
    }
  })
  return (
    <form className="card form" onSubmit={form.onSubmit}>
      <h2>{t.importTitle}</h2>
      <p className="muted">{t.importText}</p>
      <FileField label={t.archive} accept=".gz,.tgz,application/gzip" disabled={form.isBusy} onFile={setFile} />
      {form.isBusy && file && (
        <div className="stack-tight" role="status">
          <span className="small muted">{progress < 1 ? t.sending(formatBytes(file.size)) : t.storing}</span>
          <ProgressBar value={progress} label={t.importTitle} />
        </div>
      )}
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button type="submit" busy={form.isBusy} disabled={file === undefined}>
          {t.import}
        </Button>
      </div>
      {report && <ImportReport report={report} />}
    </form>
  )
}
