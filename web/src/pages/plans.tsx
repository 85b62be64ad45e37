import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { CreditCard } from 'lucide-react'
import { useEffect } from 'react'
import { type Schemas, api, keys, queryClient, unwrap, useConsoleSettings, useUsage } from '../lib/api.ts'
import { formatMoney, formatNumber } from '../lib/format.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { useTitle } from '../lib/use-title.ts'
import { planMessages } from '../texts/plans.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Empty, Loading } from '../ui/states.tsx'

const t = planMessages
type Plan = Schemas['Plan']

/** The plans that raise the quota of chats; the payment provider leads back here. */
export function Plans() {
  useTitle(t.title)
  const settings = useConsoleSettings()
  const { checkout, session_id: sessionId } = useSearch({ from: '/console/plans' })
  const plans = useQuery({ queryKey: keys.plans, queryFn: () => unwrap(api.GET('/price/')) })
  const usage = useUsage()
  const used = usage.data
  return (
    <div className="page">
      <header>
        <h1>{t.title}</h1>
        <p className="muted">{t.text}</p>
        {used && <p>{t.now(used.thread_counter, used.thread_max)}</p>}
      </header>
      {checkout === 'cancelled' && <Notice>{t.cancelled}</Notice>}
      {checkout !== 'cancelled' && sessionId && <CheckoutState sessionId={sessionId} />}
      <Loading query={plans} lines={4} height={48} />
      {settings && plans.data?.length === 0 && (
        <Empty
          icon={<CreditCard size={30} aria-hidden="true" />}
          title={t.none}
          text={settings.billing ? t.noneText : t.notConfigured}
        />
      )}
      {plans.data && plans.data.length > 0 && (
        <ul className="grid">
          {plans.data.map((plan) => (
            <PlanCard key={plan.price_id} plan={plan} threadMax={used?.thread_max ?? 0} />
          ))}
        </ul>
      )}
    </div>
  )
}

function PlanCard({ plan, threadMax }: { plan: Plan; threadMax: number }) {
  const form = useSubmit(async () => {
    const { url } = await unwrap(api.POST('/checkout/', { body: { price_id: plan.price_id } }))
    if (url === null) throw new Error(t.noPage)
    window.location.assign(url)
  })
  const isEnough = threadMax >= plan.thread_max
  return (
    <li className="card stack-small">
      <h2>{plan.name}</h2>
      <p className="figure">{formatMoney(plan.amount, plan.currency)}</p>
      <p className="muted small">{intervalOf(plan)}</p>
      <p>{t.allows(formatNumber(plan.thread_max))}</p>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      {isEnough ? (
        <p className="muted small">{t.enough}</p>
      ) : (
        <div>
          <Button look="primary" busy={form.isBusy} onClick={() => void form.submit()}>
            {t.buy(plan.name)}
          </Button>
        </div>
      )}
    </li>
  )
}

function intervalOf({ interval, interval_count: count }: Plan): string {
  if (interval === 'one_time') return t.once
  return count === 1 ? t.every(interval) : t.everySo(count, interval)
}

/** The service learns of a payment within seconds; until then it is asked again. */
const askAgainMs = 4_000
const askedMax = 45

/** What became of the checkout from which the browser has come back. */
function CheckoutState({ sessionId }: { sessionId: string }) {
  const checkout = useQuery({
    queryKey: keys.checkout(sessionId),
    queryFn: () => unwrap(api.GET('/checkout/{session_id}', { params: { path: { session_id: sessionId } } })),
    refetchInterval: ({ state }) =>
      state.data?.status === 'open' && state.dataUpdateCount < askedMax ? askAgainMs : false,
  })
  const status = checkout.data?.status
  useEffect(() => {
    if (status === 'active') void queryClient.invalidateQueries({ queryKey: keys.usage })
  }, [status])
  if (!checkout.isSuccess) return <Loading query={checkout} lines={1} height={44} />
  const { thread_max: threadMax, url } = checkout.data
  switch (checkout.data.status) {
    case 'active':
      return <Notice tone="ok">{t.active(formatNumber(threadMax))}</Notice>
    case 'open':
      return (
        <Notice tone="warn">
          {t.open} {url && <a href={url}>{t.pay}</a>}
        </Notice>
      )
    case 'ended':
      return <Notice>{t.ended}</Notice>
    case 'expired':
      return <Notice tone="warn">{t.expired}</Notice>
  }
}
