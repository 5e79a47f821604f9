import * as accounts from '../wire/accounts.ts'
import * as admin from '../wire/admin.ts'
import * as audit from '../wire/audit.ts'
import * as bankAccounts from '../wire/bank-accounts.ts'
import * as bankConnections from '../wire/bank-connections.ts'
import * as banks from '../wire/banks.ts'
import * as checkout from '../wire/checkout.ts'
import * as common from '../wire/common.ts'
import * as consents from '../wire/consents.ts'
import * as console from '../wire/console.ts'
import * as disputeFields from '../wire/dispute-fields.ts'
import * as disputes from '../wire/disputes.ts'
import * as erasure from '../wire/erasure.ts'
import * as explain from '../wire/explain.ts'
import * as feed from '../wire/feed.ts'
import * as fees from '../wire/fees.ts'
import * as ledger from '../wire/ledger.ts'
import * as limits from '../wire/limits.ts'
import * as mails from '../wire/mails.ts'
import * as mandateFields from '../wire/mandate-fields.ts'
import * as newPayment from '../wire/new-payment.ts'
import * as openBanking from '../wire/open-banking.ts'
import * as orders from '../wire/orders.ts'
import * as payer from '../wire/payer.ts'
import * as paymentRequests from '../wire/payment-requests.ts'
import * as payments from '../wire/payments.ts'
import * as payoutFiles from '../wire/payout-files.ts'
import * as payouts from '../wire/payouts.ts'
import * as reconciliation from '../wire/reconciliation.ts'
import * as recurring from '../wire/recurring.ts'
import * as refunds from '../wire/refunds.ts'
import * as registration from '../wire/registration.ts'
import * as sandboxBank from '../wire/sandbox-bank.ts'
import * as sandboxFaults from '../wire/sandbox-faults.ts'
import * as sandbox from '../wire/sandbox.ts'
import * as secrets from '../wire/secrets.ts'
import * as service from '../wire/service.ts'
import * as settings from '../wire/settings.ts'
import * as settlements from '../wire/settlements.ts'
import * as staff from '../wire/staff.ts'
import * as statements from '../wire/statements.ts'
import * as team from '../wire/team.ts'
import * as transactions from '../wire/transactions.ts'
import * as webhookEvents from '../wire/webhook-events.ts'
import * as webhookPayloads from '../wire/webhook-payloads.ts'
import * as webhooks from '../wire/webhooks.ts'

/** Everything that the contract in code exports, by its name: a name is given once. */
export const WIRE: Readonly<Record<string, unknown>> = Object.assign(
  {},
  accounts,
  admin,
  audit,
  bankAccounts,
  bankConnections,
  banks,
  checkout,
  common,
  consents,
  console,
  disputeFields,
  disputes,
  erasure,
  explain,
  feed,
  fees,
  ledger,
  limits,
  mails,
  mandateFields,
  newPayment,
  openBanking,
  orders,
  payer,
  paymentRequests,
  payments,
  payoutFiles,
  payouts,
  reconciliation,
  recurring,
  refunds,
  registration,
  sandboxBank,
  sandboxFaults,
  sandbox,
  secrets,
  service,
  settings,
  settlements,
  staff,
  statements,
  team,
  transactions,
  webhookEvents,
  webhookPayloads,
  webhooks,
)
