import t from 'tap'
import { readCaps } from '../../src/consents/control-parameters.ts'
import { DomainError } from '../../src/lib/errors.ts'

/** The paths of the reported errors. */
function refused(parameters: Record<string, unknown>): string[] {
  try {
    readCaps(parameters, 'GBP')
    return []
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VALIDATION_FAILED')
      return (error.errors ?? []).map(({ path }) => path.replace('control_parameters', ''))
    throw error
  }
}

function maximum(value: unknown): bigint | string {
  try {
    return readCaps({ max_amount_per_payment: value }, 'GBP').maxAmountPerPayment
  } catch (error) {
    return error instanceof DomainError ? 'refused' : 'broken'
  }
}

t.test("the contract's shape, with amounts as numbers or decimal strings", async (t) => {
  t.same(
    readCaps(
      {
        max_amount_per_payment: 50,
        periodic_limits: [
          { period: 'MONTH', max_amount: 200.5 },
          { period: 'YEAR', max_amount: '1000.25' },
        ],
      },
      'GBP',
    ),
    {
      maxAmountPerPayment: 500_000n,
      limits: [
        { period: 'MONTH', alignment: 'CALENDAR', maxAmount: 2_005_000n },
        { period: 'YEAR', alignment: 'CALENDAR', maxAmount: 10_002_500n },
      ],
      validTo: undefined,
    },
  )
  t.same(readCaps({ max_amount_per_payment: 1, colour: { of: ['any', 1] } }, 'GBP').limits, [], 'more is kept')
})

t.test("the Open Banking standard's names mean the same", async (t) => {
  t.same(
    readCaps(
      {
        MaximumIndividualAmount: { Amount: '50.00', Currency: 'GBP' },
        PeriodicLimits: [
          { PeriodType: 'Half-year', PeriodAlignment: 'Calendar', Amount: '200.00', Currency: 'GBP' },
          { PeriodType: 'Week', PeriodAlignment: 'Consent', Amount: '60.00', Currency: 'GBP' },
        ],
        ValidToDateTime: '2027-06-01T12:00:00+01:00',
      },
      'GBP',
    ),
    {
      maxAmountPerPayment: 500_000n,
      limits: [
        { period: 'HALF_YEAR', alignment: 'CALENDAR', maxAmount: 2_000_000n },
        { period: 'WEEK', alignment: 'CONSENT', maxAmount: 600_000n },
      ],
      validTo: '2027-06-01T11:00:00.000Z',
    },
  )
})

t.test('a number is read exactly or rejected: a calculated float is not a cap', async (t) => {
  t.equal(maximum(0.1), 1_000n)
  t.equal(maximum(1.005), 10_050n)
  t.equal(maximum(9_999_999_999.9999), 99_999_999_999_999n)
  t.equal(maximum(1_234_567_890_123), 12_345_678_901_230_000n)
  t.equal(maximum('1234567890123.4567'), 12_345_678_901_234_567n, 'a string has no such bounds')
  const wrong = [
    0.1 + 0.2,
    1.00005,
    1e-7,
    1e21,
    12_345_678_901_234,
    // Parsed like a body: JSON.parse loses the further digits.
    JSON.parse('9007199254740993'),
    JSON.parse('1234567890123.4567'),
    0,
    '0',
    '0.0000',
    -1,
    '-1',
    '1e3',
    '1,5',
    ' 1',
    '',
    '.5',
    'NaN',
    null,
    true,
    {},
    [50],
    undefined,
  ]
  for (const value of wrong) t.equal(maximum(value), 'refused', JSON.stringify(value))
})

t.test('every invalid member is reported', async (t) => {
  t.same(refused({}), ['.max_amount_per_payment'])
  t.same(
    refused({
      max_amount_per_payment: 'much',
      periodic_limits: [
        { period: 'month', max_amount: 1 },
        { period: 'MONTH' },
        'MONTH',
        null,
        { period: 'DAY', max_amount: 1 },
      ],
    }),
    [
      '.max_amount_per_payment',
      '.periodic_limits.0.period',
      '.periodic_limits.1.max_amount',
      '.periodic_limits.2',
      '.periodic_limits.3',
    ],
  )
  const limit = { PeriodType: 'Month', PeriodAlignment: 'Calendar', Amount: '1.00', Currency: 'GBP' }
  const max = { max_amount_per_payment: 1 }
  t.same(
    refused({
      MaximumIndividualAmount: { Amount: '5.00', Currency: 'EUR' },
      PeriodicLimits: [
        { ...limit, PeriodType: 'toString' },
        { ...limit, PeriodAlignment: 'Moon' },
        { ...limit, Currency: 'EUR' },
        { ...limit, Amount: '1.00000' },
      ],
      ValidToDateTime: 'tomorrow',
    }),
    [
      '.MaximumIndividualAmount',
      '.PeriodicLimits.0.PeriodType',
      '.PeriodicLimits.1.PeriodAlignment',
      '.PeriodicLimits.2.Amount',
      '.PeriodicLimits.3.Amount',
      '.ValidToDateTime',
    ],
  )
  t.same(refused({ ...max, MaximumIndividualAmount: { Amount: '1.00', Currency: 'GBP' } }), ['.max_amount_per_payment'])
  t.same(refused({ ...max, periodic_limits: [], PeriodicLimits: [] }), ['.periodic_limits'])
  t.same(refused({ ...max, periodic_limits: {} }), ['.periodic_limits'])
  t.same(refused({ ...max, periodic_limits: Array(13).fill({ period: 'DAY', max_amount: 1 }) }), ['.periodic_limits'])
})

t.test("JSON that the database or a reader can't take is rejected as a whole", async (t) => {
  const max = { max_amount_per_payment: 1 }
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
  const wrong: Record<string, unknown>[] = [
    { ...max, note: 'a\u0000b' },
    { ...max, 'a\u0000b': 1 },
    { ...max, note: '\ud83d' },
    { ...max, note: '\\\u0000' },
    { ...max, note: 'x'.repeat(4_096) },
    { ...max, note: deep(8) },
  ]
  for (const parameters of wrong) t.same(refused(parameters), [''], JSON.stringify(parameters).slice(0, 60))
  t.same(refused({ ...max, note: '\\u0000 written out, and \u{1f600}' }), [])
  t.same(refused({ ...max, note: deep(7) }), [])
})
