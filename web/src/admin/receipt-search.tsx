import { useState } from 'react'
import { type Schemas, unwrap } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { operationMessages } from '../texts/operation.ts'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { ReceiptTable } from '../ui/receipt-table.tsx'
import type { AdminApi } from '../lib/admin-api.ts'

const t = operationMessages.admin

/** The proof of a deletion, by its id. */
export function ReceiptSearch({ api }: { api: AdminApi }) {
  const [id, setId] = useState('')
  const [receipt, setReceipt] = useState<Schemas['Receipt']>()
  const form = useSubmit(async () => {
    setReceipt(undefined)
    setReceipt(await unwrap(api.GET('/admin/receipts/{receipt_id}', { params: { path: { receipt_id: id.trim() } } })))
  })
  return (
    <section className="card stack-small">
      <h2>{t.receipts}</h2>
      <form className="search-form" onSubmit={form.onSubmit}>
        <TextField label={t.receiptId} required value={id} onValue={setId} />
        <Button type="submit" busy={form.isBusy}>
          {texts.search}
        </Button>
      </form>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      {receipt && <ReceiptTable receipt={receipt} />}
    </section>
  )
}
