import type { Schemas } from '../lib/api.ts'
import { texts } from '../texts/index.ts'
import { CopyButton } from './code-block.tsx'
import { Notice } from './notice.tsx'

const t = texts.account

/** The counts of a deletion's receipt, by store. */
export function ReceiptTable({ receipt }: { receipt: Schemas['Receipt'] }) {
  const stores = [...new Set([...Object.keys(receipt.found), ...Object.keys(receipt.left)])].toSorted()
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
                <td>{store.replaceAll('_', ' ')}</td>
                <td className="number">{receipt.found[store] ?? 0}</td>
                <td className="number">{receipt.left[store] ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
