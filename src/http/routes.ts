import type { App } from '../app.ts'
import * as wireAccounts from '../wire/accounts.ts'
import * as wireOrders from '../wire/orders.ts'
import * as wireRecurring from '../wire/recurring.ts'
import * as wirePaymentRequests from '../wire/payment-requests.ts'
import * as wireSandboxBank from '../wire/sandbox-bank.ts'
import * as wireSandboxDial from '../wire/sandbox-dial.ts'
import * as wireAdmin from '../wire/admin.ts'
import * as wireAudit from '../wire/audit.ts'
import * as wireBankAccounts from '../wire/bank-accounts.ts'
import * as wireCheckout from '../wire/checkout.ts'
import * as wireConsole from '../wire/console.ts'
import * as wireConsents from '../wire/consents.ts'
import * as wirePayer from '../wire/payer.ts'
import * as wireBanks from '../wire/banks.ts'
import * as wireDisputes from '../wire/disputes.ts'
import * as wireExplain from '../wire/explain.ts'
import * as wireFees from '../wire/fees.ts'
import * as wireLedger from '../wire/transactions.ts'
import type { Operation } from '../wire/operation.ts'
import * as wirePayments from '../wire/payments.ts'
import * as wireRefunds from '../wire/refunds.ts'
import * as wireWebhooks from '../wire/webhooks.ts'
import * as wireRegistration from '../wire/registration.ts'
import * as wireSandbox from '../wire/sandbox.ts'
import * as wireSecrets from '../wire/secrets.ts'
import * as wireService from '../wire/service.ts'
import * as wireSettings from '../wire/settings.ts'
import * as wireStaff from '../wire/staff.ts'
import * as wireTeam from '../wire/team.ts'
import { makeEndpoint, makeStreamEndpoint } from './endpoint.ts'
import type { BodyRules, Endpoint, Handler, StreamHandler } from './endpoint.ts'
import type { Guard } from './guards.ts'
import * as accounts from './handlers/accounts.ts'
import * as orders from './handlers/orders.ts'
import * as recurring from './handlers/recurring.ts'
import * as paymentRequests from './handlers/payment-requests.ts'
import * as sandboxBank from './handlers/sandbox-bank.ts'
import * as sandboxDial from './handlers/sandbox-dial.ts'
import * as admin from './handlers/admin.ts'
import * as audit from './handlers/audit.ts'
import * as bankAccounts from './handlers/bank-accounts.ts'
import * as checkout from './handlers/checkout.ts'
import * as forConsole from './handlers/console.ts'
import * as consents from './handlers/consents.ts'
import * as payer from './handlers/payer.ts'
import * as banks from './handlers/banks.ts'
import * as disputes from './handlers/disputes.ts'
import * as explain from './handlers/explain.ts'
import * as ledger from './handlers/transactions.ts'
import * as payments from './handlers/payments.ts'
import * as webhooks from './handlers/webhooks.ts'
import * as registration from './handlers/registration.ts'
import * as sandbox from './handlers/sandbox.ts'
import * as secrets from './handlers/secrets.ts'
import * as service from './handlers/service.ts'
import * as settings from './handlers/settings.ts'
import * as staff from './handlers/staff.ts'
import * as team from './handlers/team.ts'

/** A row of the table: an operation of the contract and what answers it. */
export type Route = { operation: Operation; bind(app: App, guard: Guard): Endpoint }

/** Everything that is asked of the service. What is not here does not exist. */
export const ROUTES: readonly Route[] = [
  route(wirePayments.createPayment, payments.create),
  route(wirePayments.listPayments, payments.list),
  route(wirePayments.getPayment, payments.get),
  route(wirePayments.listPaymentEvents, payments.listEvents),
  route(wirePayments.completeSca, payments.complete),
  route(wirePayments.cancelPayment, payments.cancel),
  route(wireRefunds.refundPayment, payments.refund),
  route(wireRefunds.listRefunds, payments.listRefunds),
  route(wireDisputes.raiseDispute, disputes.raise),
  route(wireConsents.listConsents, consents.list),
  route(wireConsents.getConsent, consents.get),
  route(wireConsents.endConsent, consents.end),
  route(wireLedger.listTransactions, ledger.list),
  route(wireLedger.getTransaction, ledger.get),
  route(wireDisputes.listDisputes, disputes.list),
  route(wireDisputes.getDispute, disputes.get),
  route(wireDisputes.submitEvidence, disputes.submitEvidence),
  route(wireDisputes.acceptDispute, disputes.accept),
  route(wireWebhooks.getWebhookEndpoint, webhooks.getEndpoint),
  route(wireWebhooks.putWebhookEndpoint, webhooks.putEndpoint),
  route(wireWebhooks.checkWebhookEndpoint, webhooks.checkEndpoint),
  route(wireWebhooks.listWebhooks, webhooks.listWebhooks),
  route(wireWebhooks.testWebhook, webhooks.test),
  route(wireWebhooks.replayWebhooks, webhooks.replayMany),
  route(wireWebhooks.getWebhook, webhooks.getWebhook),
  route(wireWebhooks.replayWebhook, webhooks.replay),
  route(wireWebhooks.listEvents, webhooks.listEvents),
  route(wireSecrets.getWebhookSecret, secrets.getSecret),
  route(wireSecrets.rotateWebhookSecret, secrets.rotate),
  route(wireSecrets.endSecretOverlap, secrets.endOverlap),
  route(wireSettings.getBranding, settings.getBranding),
  route(wireSettings.putBranding, settings.putBranding),
  route(wireSettings.getCheckoutOrigins, settings.getOrigins),
  route(wireSettings.putCheckoutOrigins, settings.putOrigins),
  route(wireBankAccounts.listBankAccounts, bankAccounts.list),
  route(wireBankAccounts.addBankAccount, bankAccounts.add),
  route(wireBankAccounts.disableBankAccount, bankAccounts.disable),
  route(wireExplain.explainForMerchant, explain.forMerchant),
  route(wireTeam.listTeam, team.list),
  route(wireTeam.inviteTeamMember, team.invite),
  route(wireTeam.changeTeamRole, team.changeRole),
  route(wireTeam.removeTeamMember, team.remove),
  route(wireTeam.listApiCredentials, team.listCredentials),
  route(wireTeam.createApiCredential, team.createCredential),
  route(wireTeam.rotateApiCredential, team.rotateCredential),
  route(wireTeam.revokeApiCredential, team.revokeCredential),
  route(wireRegistration.registerMerchant, registration.register),
  route(wireRegistration.listRegistrations, registration.list),
  route(wireRegistration.repairRegistration, registration.repair),
  route(wireAdmin.listMerchants, admin.listMerchants),
  route(wireAdmin.getMerchant, admin.getMerchant),
  route(wireAdmin.setKybStatus, admin.setKyb),
  route(wireAdmin.setPayoutHold, admin.setHold),
  route(wireAdmin.setMerchantActive, admin.setActive),
  route(wireFees.getFees, admin.getFees),
  route(wireFees.setFees, admin.setFees),
  route(wireAudit.listAudit, audit.list),
  route(wireAudit.exportAudit, audit.exportChain),
  route(wireAudit.getAuditEntry, audit.getEntry),
  route(wireDisputes.listAdminDisputes, disputes.listAll),
  route(wireDisputes.getAdminDispute, disputes.getAny),
  route(wireDisputes.raiseAdminDispute, disputes.raiseForPlatform),
  route(wireDisputes.escalateDispute, disputes.escalate),
  route(wireDisputes.resolveDispute, disputes.resolve),
  route(wireWebhooks.listOutbox, webhooks.listOutbox),
  route(wireWebhooks.replayForMerchant, webhooks.replayForMerchant),
  route(wireExplain.explainForOperator, explain.forOperator),
  route(wireConsole.getOverview, forConsole.overview),
  route(wireConsole.getPortalOverview, forConsole.portalOverview),
  route(wireConsole.getInbox, forConsole.inbox),
  route(wireConsole.getPortalInbox, forConsole.portalInbox),
  route(wireConsole.listAdminPayments, forConsole.listPayments),
  route(wireConsole.getAdminPayment, forConsole.getPayment),
  streaming(wireConsole.streamEvents, forConsole.stream),
  route(wireStaff.listStaff, staff.list),
  route(wireStaff.addStaff, staff.add),
  route(wireStaff.changeStaffRole, staff.changeRole),
  route(wireStaff.removeStaff, staff.remove),
  route(wireStaff.listStaffClients, staff.listClients),
  route(wireStaff.createStaffClient, staff.createClient),
  route(wireStaff.revokeStaffClient, staff.revokeClient),
  route(wireStaff.rotateRealmKeys, staff.rotateKeys),
  route(wireService.getService, service.get),
  route(wireService.whoami, service.whoami),
  route(wireBanks.listBanks, banks.list),
  route(wireBanks.bankCallback, banks.callback),
  route(wireCheckout.getCheckout, checkout.get),
  route(wirePayer.requestLink, payer.requestLink),
  route(wirePayer.verifyLink, payer.verifyLink),
  route(wirePayer.signOutPayer, payer.signOut),
  route(wirePayer.listPayerPayments, payer.listPayments),
  route(wirePayer.getPayerPayment, payer.getPayment),
  route(wirePayer.raisePayerDispute, payer.raiseDispute),
  route(wirePayer.listPayerConsents, payer.listConsents),
  route(wirePayer.revokePayerConsent, payer.revokeConsent),
  route(wirePayer.leaveContact, payer.leaveContact),
  route(wireAccounts.listAccounts, accounts.list),
  route(wireAccounts.getBalance, accounts.getBalance),
  route(wireAccounts.listAccountTransactions, accounts.listTransactions),
  route(wireOrders.createOrder, orders.create),
  route(wireOrders.getOrder, orders.get),
  route(wireRecurring.createRecurring, recurring.create, recurring.createRules),
  route(wireRecurring.listRecurring, recurring.list),
  route(wireRecurring.getRecurring, recurring.get),
  route(wireRecurring.cancelRecurring, recurring.cancel),
  route(wirePaymentRequests.createRequestToPay, paymentRequests.createRequest, paymentRequests.requestRules),
  route(wirePaymentRequests.listRequestsToPay, paymentRequests.listRequests),
  route(wirePaymentRequests.getRequestToPay, paymentRequests.getRequest),
  route(wirePaymentRequests.acceptRequestToPay, paymentRequests.acceptRequest),
  route(wirePaymentRequests.rejectRequestToPay, paymentRequests.rejectRequest),
  route(wirePaymentRequests.createOfferToPay, paymentRequests.createOffer, paymentRequests.offerRules),
  route(wirePaymentRequests.listOffersToPay, paymentRequests.listOffers),
  route(wirePaymentRequests.getOfferToPay, paymentRequests.getOffer),
  route(wirePaymentRequests.acceptOfferToPay, paymentRequests.acceptOffer),
  route(wirePaymentRequests.rejectOfferToPay, paymentRequests.rejectOffer),
]

/** What exists in the sandbox only (decision 60). */
export const SANDBOX_ROUTES: readonly Route[] = [
  route(wireSandbox.createSandboxMerchant, sandbox.createMerchant),
  route(wireSandbox.advanceSandboxClock, sandbox.advanceClock),
  route(wireSandbox.readSandboxClock, sandbox.readClock),
  route(wireSandboxBank.createSandboxCustomer, sandboxBank.createCustomer),
  route(wireSandboxBank.listSandboxAccounts, sandboxBank.listAccounts),
  route(wireSandboxBank.setSandboxAccount, sandboxBank.setAccount),
  route(wireSandboxBank.checkBooks, sandboxBank.checkBooks),
  route(wireSandboxBank.seedSandbox, sandboxBank.seed),
  route(wireSandboxDial.getBankFaults, sandboxDial.getFaults),
  route(wireSandboxDial.setBankFaults, sandboxDial.setFaults),
  route(wireSandboxDial.listBankScenarios, sandboxDial.scenarios),
  route(wireSandboxDial.advanceSandboxPayment, sandboxDial.advancePayment),
  route(wireDisputes.disputeAsPayer, disputes.raiseAsPayer),
  route(wireRegistration.listMails, sandbox.listMails),
  route(wireRegistration.getMail, sandbox.getMail),
]

/** The table of a mode. */
export function routesOf(mode: 'sandbox' | 'live'): readonly Route[] {
  return mode === 'sandbox' ? [...ROUTES, ...SANDBOX_ROUTES] : ROUTES
}

function route<O extends Operation>(operation: O, handler: Handler<O>, rules?: BodyRules): Route {
  return { operation, bind: (app, guard) => makeEndpoint(app, guard, operation, handler, rules) }
}

function streaming<O extends Operation>(operation: O, handler: StreamHandler<O>): Route {
  return { operation, bind: (app, guard) => makeStreamEndpoint(app, guard, operation, handler) }
}
