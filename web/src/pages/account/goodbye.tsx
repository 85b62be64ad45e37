import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { createClient } from '../../../../client/src/index.ts'
import { unwrap } from '../../lib/api.ts'
import { tokenForReceipt } from '../../lib/session.ts'
import { texts } from '../../texts/index.ts'
import { ReceiptTable } from '../../ui/receipt-table.tsx'
import { Problem, Skeleton } from '../../ui/states.tsx'
import { Welcome } from './welcome.tsx'

const t = texts.account

/** Shown after an account was deleted, with the receipt. */
export function Goodbye() {
  const last = tokenForReceipt.read()
  const receipt = useQuery({
    queryKey: ['receipt', last?.receiptId],
    enabled: last !== undefined,
    queryFn: () =>
      unwrap(
        createClient({ baseUrl: '', token: () => last?.token }).GET('/receipts/{receipt_id}', {
          params: { path: { receipt_id: last?.receiptId ?? '' } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? 1000 : false),
  })
  return (
    <Welcome title={t.deleted} text={last ? t.deletedText : undefined}>
      {last && receipt.isPending && <Skeleton />}
      {receipt.isError && <Problem error={receipt.error} />}
      {receipt.data && <ReceiptTable receipt={receipt.data} />}
      <Link to="/login">{t.toLogin}</Link>
    </Welcome>
  )
}
