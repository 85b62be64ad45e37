import type { Schemas } from '../lib/api.ts'
import { formatNumber } from '../lib/format.ts'
import { dataMessages } from '../texts/data.ts'
import { texts } from '../texts/index.ts'
import { CopyButton } from './code-block.tsx'
import { Notice } from './notice.tsx'

const t = texts.account
const names: Record<string, string> = { ...dataMessages.kinds, ...dataMessages.stores }
/** Of what a newer service counts, too. */
const nameOf = (store: string): string => names[store] ?? store.replaceAll('_', ' ')

/** The counts of a deletion's receipt, by store. */
export function ReceiptTable({ receipt }: { receipt: Schemas['Receipt'] }) {
  const { found, left } = receipt
  // All are looked through; most held nothing.
  const stores = [...new Set([...Object.keys(found), ...Object.keys(left)])].filter(
    (store) => found[store] || left[store],
  )
  return (
    <div className="stack-small">
      <div className="row">
        <strong>{t.receipt}</strong>
        <code className="truncate">{receipt.receipt_id}</code>
        <CopyButton text={receipt.receipt_id} />
      </div>
      {receipt.status === 'running' && <Notice>{t.receiptRunning}</Notice>}
      <div className="scroll-x">
        <table className="table">
          <thead>
            <tr>
              <th>{t.store}</th>
              <th className="number">{t.found}</th>
              <th className="number">{t.left}</th>
            </tr>
          </thead>
          <tbody>
            {stores.map((store) => (
              <tr key={store}>
                <td>{nameOf(store)}</td>
                <td className="number">{formatNumber(found[store] ?? 0)}</td>
                <td className="number">{left[store] === undefined ? '–' : formatNumber(left[store])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
