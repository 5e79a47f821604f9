import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { createPayment as createPaymentUseCase } from '../../src/payments/create-payment.ts'
import { formatNumeric, toNumeric } from '../../src/lib/money.ts'
import { createPayment, testService } from '../support/app.ts'

const service = await testService(t)

/** The fee computed independently in ten-thousandths, rounded half up to four decimals (decision 33). */
function feeOf({ gross, percentage, flat }: { gross: bigint; percentage: bigint; flat: bigint }): bigint {
  return (gross * percentage + 5_000n) / 10_000n + flat
}

const pennies = (max: bigint) => fc.bigInt({ min: 1n, max }).map((count) => count * 100n)
const fees = fc.record({
  gross: fc.oneof(pennies(100n), pennies(100_000n), pennies(100_000_000n)),
  percentage: fc.oneof(fc.constantFrom(0n, 1n, 100n, 9_999n), fc.bigInt({ min: 0n, max: 9_999n })),
  flat: fc.oneof(fc.constant(0n), pennies(100n), pennies(1_000_000n)),
})

async function merchantWith({ percentage, flat }: { percentage: bigint; flat: bigint }): Promise<string> {
  const { id } = await service.merchant({ feePercentage: toNumeric(percentage), feeFlat: toNumeric(flat).slice(0, -2) })
  return id
}

t.test(
  'the fee is the exact decimal gross x percentage + flat, rounded half up to four decimals, or nothing is charged',
  async (t) => {
    let charged = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fees, { minLength: 40, maxLength: 40 }), async (cases) => {
        await Promise.all(
          cases.map(async (terms) => {
            const merchantId = await merchantWith(terms)
            const body = {
              amount: toNumeric(terms.gross),
              currency: 'GBP',
              redirect_uri: 'https://shop.example/return',
            }
            const input = {
              merchant: { id: merchantId, tradingName: 'Acme' },
              idempotencyKey: randomUUID(),
              body,
              rawBody: '{}',
            }
            const fee = feeOf(terms)
            if (fee >= terms.gross) {
              const error: unknown = await createPaymentUseCase(service.app, input).catch((caught: unknown) => caught)
              if (!(error instanceof Error) || !('code' in error) || error.code !== 'AMOUNT_BELOW_FEE')
                throw new Error(`not refused: ${String(error)}`)
              refused += 1
              return
            }
            const { payment } = await createPaymentUseCase(service.app, input)
            const expected = [terms.gross, fee, terms.gross - fee].map((amount) =>
              formatNumeric(toNumeric(amount), 'GBP'),
            )
            const got = [payment.gross_amount, payment.fee_amount, payment.net_amount]
            if (JSON.stringify(got) !== JSON.stringify(expected))
              throw new Error(`${got.join(' ')} instead of ${expected.join(' ')}`)
            charged += 1
          }),
        )
      }),
      { numRuns: 15 },
    )
    t.ok(charged > 100 && refused > 10, `${charged} charged, ${refused} refused`)
  },
)

t.test('half of a ten-thousandth is rounded up', async (t) => {
  const merchant = await service.merchant({ feePercentage: '0.0050', feeFlat: '0.00' })
  t.match((await createPayment(service, merchant, { amount: '0.01' })).body, {
    fee_amount: '0.0001',
    net_amount: '0.0099',
  })
  t.match((await createPayment(service, merchant, { amount: '10.00' })).body, {
    fee_amount: '0.05',
    net_amount: '9.95',
  })
})

t.test("a payment keeps its fee when the merchant's fees change", async (t) => {
  const merchant = await service.merchant({ feePercentage: '0.0100', feeFlat: '0.20' })
  const key = randomUUID()
  const before = await createPayment(service, merchant, {}, key)
  await service.owner.query('update merchants set fee_percentage = 0.5, fee_flat = 7 where id = $1', [merchant.id])
  const repeat = await createPayment(service, merchant, {}, key)
  t.equal(repeat.text, before.text)
  const read = await service.call('GET', `/api/v1/payments/${before.body.payment_id}`, { merchant })
  t.match(read.body, { gross_amount: '50.00', fee_amount: '0.70', net_amount: '49.30' })
  const { rows } = await service.owner.query('select fee_percentage, fee_flat from payment_intents where id = $1', [
    before.body.payment_id,
  ])
  t.same(rows, [{ fee_percentage: '0.0100', fee_flat: '0.20' }], 'the terms it was made under are kept beside it')
  t.match((await createPayment(service, merchant)).body, { fee_amount: '32.00' }, 'a new payment has the new ones')
})
