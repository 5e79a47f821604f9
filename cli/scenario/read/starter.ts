import { stringify } from 'yaml'

/** A scenario to begin one's own with: it is valid and passes, and its comments say what else there is. */
export function starterOf(name: string): string {
  return `# yaml-language-server: $schema=./scenario.schema.json
# Your editor reads that line; the file is made by: svc sandbox scenarios schema > scenario.schema.json
# ${name.replace(/\s+/g, ' ')}: say here, in one sentence, what story this tells.
scenario: v1
name: ${stringify(name, { lineWidth: 0 }).trim()}
# tags: [smoke]                              # svc run . --tag smoke
vars: { amount: "12.50" }                  # another one: --var amount=20.00. Amounts are text, in quotes
# matrix: { currency: [GBP, EUR] }         # one case for each; $currency in the steps below
given:                                     # a merchant and a webhook receiver of this case alone
  merchant: { fee_percentage: "0.0100", fee_flat: "0.20" }
steps:
  # What a step makes gets a name with "as"; later steps refer to it as $p1, and to its parts as $p1.payment_id.
  - pay: { as: p1, amount: $amount, currency: GBP, remittance_reference: ORDER-1 }

  # The payer at the mock bank. Other endings are chosen above: pay: { …, scenario: insufficient-funds }
  - bank: { approve: $p1 }

  # What takes its time is waited for.
  - await: { payment: $p1, status: Settled, within: 10s }

  # What must be so now. Also "/a regex/", "> 10.00", { one_of: [..] }, { type: uuid }, { absent: true }.
  - expect: { of: $p1, currency: GBP, net_amount: "> 0", failure: { absent: true } }

  # What your endpoint would have been sent, each with a good signature.
  - webhooks: { for: $p1, in_order: [payment.initiated, payment.authorized, payment.settled], signed: true }

  # What must be refused. This stands beside any verb.
  - payments.refund: { payment: $p1, amount: "1000000.00" }
    expect_error: { http: 422 }
`
}
