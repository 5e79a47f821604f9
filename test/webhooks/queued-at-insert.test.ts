import t from 'tap'
import { makeOutbox, plantMerchant } from '../support/webhooks.ts'

const { owner, app } = await makeOutbox(t)
const one = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
const two = await plantMerchant({ owner, app, webhookUrl: null })

const COUNT = 40

t.test('of many deliveries of one insert each is queued, or waits for an endpoint, or is done', async (t) => {
  const { rows } = await owner.query<{ merchant_id: string; id: string; place: string }>(
    `with inserted as (
       insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload, status, attempt_count, next_retry_at, delivered_at, sequence)
       select gen_random_uuid(), case when n % 4 = 0 then $2::uuid else $1 end, 'evt_' || n, 'payment.settled', '{}',
         (case when n % 4 = 1 then 'DELIVERED' else 'PENDING' end)::webhook_delivery_status, (n % 4 = 1)::int,
         case n % 4 when 0 then 'infinity' when 1 then 'infinity' when 2 then now() else now() + interval '1 hour' end,
         case when n % 4 = 1 then now() end, n
       from generate_series(1, ${COUNT}) n
       returning id, merchant_id, status, next_retry_at
     )
     select merchant_id, id,
       case when status = 'DELIVERED' then 'none' when next_retry_at = 'infinity' then 'waiting' else 'queue' end as place
     from inserted`,
    [one, two],
  )
  const places = await owner.query<{ place: string; merchant_id: string; id: string }>(
    `select 'queue' as place, q.merchant_id, q.delivery_id as id
     from webhook_queue q join webhook_deliveries d on d.merchant_id = q.merchant_id and d.id = q.delivery_id
     where q.due_at = d.next_retry_at and q.sequence = d.sequence and not q.attempted
     union all select 'waiting', merchant_id, delivery_id from webhook_waiting`,
  )
  const textsOf = (found: readonly { place: string; merchant_id: string; id: string }[]) =>
    found.map(({ place, merchant_id, id }) => `${place} ${merchant_id} ${id}`).toSorted()
  t.equal(rows.length, COUNT)
  t.strictSame(textsOf(places.rows), textsOf(rows.filter(({ place }) => place !== 'none')))
  t.equal(places.rows.length, (COUNT * 3) / 4)
})
