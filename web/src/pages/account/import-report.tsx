import type { ReactNode } from 'react'
import type { Schemas } from '../../lib/api.ts'
import { sayingOf } from '../../lib/error-messages.ts'
import { formatNumber } from '../../lib/format.ts'
import { dataMessages } from '../../texts/data.ts'
import { Notice } from '../../ui/notice.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'

const t = dataMessages
type Report = Schemas['ImportReport']

/** What an import has stored, found there already, and refused. */
export function ImportReport({ report }: { report: Report }) {
  const refusals = Object.values(report.refused).reduce((sum, amount) => sum + amount, 0)
  return (
    <div className="stack-small">
      <Notice tone={refusals === 0 ? 'ok' : 'warn'}>{refusals === 0 ? t.done : t.partlyDone}</Notice>
      <ScrollRegion label={t.report}>
        <table className="table">
          <thead>
            <tr>
              <th>{t.kind}</th>
              <th>{t.imported}</th>
              <th>{t.existing}</th>
              <th>{t.refused}</th>
            </tr>
          </thead>
          <tbody>
            {kindsOf(report.imported).map((kind) => (
              <tr key={kind}>
                <td>{t.kinds[kind]}</td>
                <td>{formatNumber(report.imported[kind])}</td>
                <td>{formatNumber(report.existing[kind])}</td>
                <td>{formatNumber(report.refused[kind])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {report.problems.length > 0 && (
        <Details title={t.problems}>
          {report.problems.map(({ kind, id, reason }) => (
            <li key={`${kind}/${id}`}>
              {kindName(kind)} <code>{id}</code>: {sayingOf(reason)}
            </li>
          ))}
        </Details>
      )}
      {report.missing_secrets.length > 0 && (
        <Details title={t.missingSecrets}>
          {report.missing_secrets.map(({ assistant_id: id, name, members }) => (
            <li key={id}>
              {name}: <code>{members.join(', ')}</code>
            </li>
          ))}
        </Details>
      )}
      {report.unpublished.length > 0 && <p className="small">{t.unpublished(report.unpublished.length)}</p>}
    </div>
  )
}

function Details({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stack-small">
      <h3>{title}</h3>
      <ul className="stack-tight small">{children}</ul>
    </section>
  )
}

type Kind = keyof Report['imported']

const isKind = (name: string): name is Kind => Object.hasOwn(t.kinds, name)
const kindsOf = (counts: Report['imported']): Kind[] => Object.keys(counts).filter(isKind)
const kindName = (kind: string): string => (isKind(kind) ? t.kinds[kind] : kind)
