import type { App } from '../app.ts'
import * as wireAccounts from '../wire/accounts.ts'
import * as wireAdmin from '../wire/admin.ts'
import * as wireAudit from '../wire/audit.ts'
import * as wireBankAccounts from '../wire/bank-accounts.ts'
import * as wireBankConnections from '../wire/bank-connections.ts'
import * as wireBanks from '../wire/banks.ts'
import * as wireCheckout from '../wire/checkout.ts'
import * as wireConsents from '../wire/consents.ts'
import * as wireConsole from '../wire/console.ts'
import * as wireDisputes from '../wire/disputes.ts'
import * as wireExplain from '../wire/explain.ts'
import * as wireFeed from '../wire/feed.ts'
import * as wireFees from '../wire/fees.ts'
import * as wireLedger from '../wire/ledger.ts'
import * as wireLimits from '../wire/limits.ts'
import * as wireMails from '../wire/mails.ts'
import * as wireOrders from '../wire/orders.ts'
import * as wirePayer from '../wire/payer.ts'
import * as wirePaymentRequests from '../wire/payment-requests.ts'
import * as wirePayments from '../wire/payments.ts'
import * as wirePayouts from '../wire/payouts.ts'
import * as wirePayoutFiles from '../wire/payout-files.ts'
import * as wireReconciliation from '../wire/reconciliation.ts'
import * as wireRecurring from '../wire/recurring.ts'
import * as wireRefunds from '../wire/refunds.ts'
import * as wireRegistration from '../wire/registration.ts'
import * as wireSandboxBank from '../wire/sandbox-bank.ts'
import * as wireSandboxFaults from '../wire/sandbox-faults.ts'
import * as wireSandbox from '../wire/sandbox.ts'
import * as wireSecrets from '../wire/secrets.ts'
import * as wireService from '../wire/service.ts'
import * as wireSettlements from '../wire/settlements.ts'
import * as wireSettings from '../wire/settings.ts'
import * as wireErasure from '../wire/erasure.ts'
import * as wireStaff from '../wire/staff.ts'
import * as wireStatements from '../wire/statements.ts'
import * as wireTeam from '../wire/team.ts'
import * as wireTransactions from '../wire/transactions.ts'
import * as wireWebhooks from '../wire/webhooks.ts'
import type { Operation } from '../wire/operation.ts'
import { makeEndpoint, replying, streaming } from './endpoint.ts'
import type { BodyRules, Endpoint, Handler, StreamHandler } from './endpoint.ts'
import type { Guard } from './guards.ts'
import { accounts } from './handlers/accounts.ts'
import { admin } from './handlers/admin.ts'
import { audit } from './handlers/audit.ts'
import { bankAccounts } from './handlers/bank-accounts.ts'
import { bankConnections } from './handlers/bank-connections.ts'
import { banks } from './handlers/banks.ts'
import { checkout } from './handlers/checkout.ts'
import { consents } from './handlers/consents.ts'
import { consoleViews } from './handlers/console.ts'
import { disputes } from './handlers/disputes.ts'
import { explanations } from './handlers/explain.ts'
import { feed } from './handlers/feed.ts'
import { fees } from './handlers/fees.ts'
import { ledger } from './handlers/ledger.ts'
import { limits } from './handlers/limits.ts'
import { mails } from './handlers/mails.ts'
import { orders } from './handlers/orders.ts'
import { payer } from './handlers/payer.ts'
import { offerToPayRules, paymentRequests, requestToPayRules } from './handlers/payment-requests.ts'
import { payments } from './handlers/payments.ts'
import { payouts } from './handlers/payouts.ts'
import { payoutFiles } from './handlers/payout-files.ts'
import { reconciliation } from './handlers/reconciliation.ts'
import { recurring, recurringRules } from './handlers/recurring.ts'
import { refunds } from './handlers/refunds.ts'
import { registration } from './handlers/registration.ts'
import { sandboxBank } from './handlers/sandbox-bank.ts'
import { sandboxFaults } from './handlers/sandbox-faults.ts'
import { sandbox } from './handlers/sandbox.ts'
import { secrets } from './handlers/secrets.ts'
import { service } from './handlers/service.ts'
import { settlements } from './handlers/settlements.ts'
import { settings } from './handlers/settings.ts'
import { erasure } from './handlers/erasure.ts'
import { staff } from './handlers/staff.ts'
import { statements } from './handlers/statements.ts'
import { team } from './handlers/team.ts'
import { transactions } from './handlers/transactions.ts'
import { webhooks } from './handlers/webhooks.ts'

/** A row of the table: an operation of the contract, and its handler. */
export type Route = { operation: Operation; handlerName: string; bind(app: App, guard: Guard): Endpoint }

/** The table of contents of the API: every operation, and its handler. CONTRIBUTING.md has the steps to add one. */
export const ROUTES: readonly Route[] = [
  route(wirePayments.createPayment, payments.createPayment),
  route(wirePayments.listPayments, payments.listPayments),
  route(wirePayments.getPayment, payments.getPayment),
  route(wirePayments.listPaymentEvents, payments.listPaymentEvents),
  route(wirePayments.completeSca, payments.completeSca),
  route(wirePayments.cancelPayment, payments.cancelPayment),
  route(wireRefunds.refundPayment, refunds.refundPayment),
  route(wireRefunds.listRefunds, refunds.listRefunds),
  route(wireDisputes.raiseDispute, disputes.raiseDispute),
  route(wireConsents.listConsents, consents.listConsents),
  route(wireConsents.getConsent, consents.getConsent),
  route(wireConsents.endConsent, consents.endConsent),
  route(wireTransactions.listTransactions, transactions.listTransactions),
  route(wireTransactions.getTransaction, transactions.getTransaction),
  route(wireDisputes.listDisputes, disputes.listDisputes),
  route(wireDisputes.getDispute, disputes.getDispute),
  route(wireDisputes.submitEvidence, disputes.submitEvidence),
  route(wireDisputes.acceptDispute, disputes.acceptDispute),
  route(wireWebhooks.getWebhookEndpoint, webhooks.getWebhookEndpoint),
  route(wireWebhooks.putWebhookEndpoint, webhooks.putWebhookEndpoint),
  route(wireWebhooks.checkWebhookEndpoint, webhooks.checkWebhookEndpoint),
  route(wireWebhooks.listWebhooks, webhooks.listWebhooks),
  route(wireWebhooks.testWebhook, webhooks.testWebhook),
  route(wireWebhooks.replayWebhooks, webhooks.replayWebhooks),
  route(wireWebhooks.getWebhook, webhooks.getWebhook),
  route(wireWebhooks.replayWebhook, webhooks.replayWebhook),
  route(wireFeed.listEvents, feed.listEvents),
  route(wireSecrets.getWebhookSecret, secrets.getWebhookSecret),
  route(wireSecrets.rotateWebhookSecret, secrets.rotateWebhookSecret),
  route(wireSecrets.endSecretOverlap, secrets.endSecretOverlap),
  route(wireSettings.getBranding, settings.getBranding),
  route(wireSettings.putBranding, settings.putBranding),
  route(wireSettings.getCheckoutOrigins, settings.getCheckoutOrigins),
  route(wireSettings.putCheckoutOrigins, settings.putCheckoutOrigins),
  route(wireLedger.getBalances, ledger.getBalances),
  route(wireSettlements.listSettlements, settlements.listSettlements),
  route(wireSettlements.getSettlement, settlements.getSettlement),
  route(wireSettlements.listSettlementLines, settlements.listSettlementLines),
  route(wireSettlements.closeSettlements, settlements.closeSettlements),
  route(wireSettlements.getSettlementSchedule, settlements.getSettlementSchedule),
  route(wireSettlements.putSettlementSchedule, settlements.putSettlementSchedule),
  route(wireBankAccounts.listBankAccounts, bankAccounts.listBankAccounts),
  route(wireBankAccounts.addBankAccount, bankAccounts.addBankAccount),
  route(wireBankAccounts.disableBankAccount, bankAccounts.disableBankAccount),
  route(wireExplain.explainForMerchant, explanations.explainForMerchant),
  route(wireTeam.listTeam, team.listTeam),
  route(wireTeam.inviteTeamMember, team.inviteTeamMember),
  route(wireTeam.changeTeamRole, team.changeTeamRole),
  route(wireTeam.removeTeamMember, team.removeTeamMember),
  route(wireTeam.resetTeamFactor, team.resetTeamFactor),
  route(wireTeam.listApiCredentials, team.listApiCredentials),
  route(wireTeam.createApiCredential, team.createApiCredential),
  route(wireTeam.rotateApiCredential, team.rotateApiCredential),
  route(wireTeam.revokeApiCredential, team.revokeApiCredential),
  route(wireRegistration.registerMerchant, registration.registerMerchant),
  route(wireRegistration.listRegistrations, registration.listRegistrations),
  route(wireRegistration.repairRegistration, registration.repairRegistration),
  route(wireAdmin.listMerchants, admin.listMerchants),
  route(wireAdmin.getMerchant, admin.getMerchant),
  route(wireAdmin.setKybStatus, admin.setKybStatus),
  route(wireAdmin.setPayoutHold, admin.setPayoutHold),
  route(wireAdmin.setMerchantActive, admin.setMerchantActive),
  route(wireLedger.listBalances, ledger.listBalances),
  route(wireLedger.correctBalance, ledger.correctBalance),
  route(wireReconciliation.getReconciliation, reconciliation.getReconciliation),
  route(wireReconciliation.listReconciliations, reconciliation.listReconciliations),
  route(wireReconciliation.getPortalReconciliation, reconciliation.getPortalReconciliation),
  route(wirePayouts.listPayouts, payouts.listPayouts),
  route(wirePayouts.getPayout, payouts.getPayout),
  route(wirePayouts.listAdminPayouts, payouts.listAdminPayouts),
  route(wirePayouts.getAdminPayout, payouts.getAdminPayout),
  route(wirePayouts.retryPayout, payouts.retryPayout),
  route(wirePayouts.failPayout, payouts.failPayout),
  route(wireRefunds.failRefund, refunds.failRefund),
  route(wirePayoutFiles.createPayoutFile, payoutFiles.createPayoutFile),
  route(wirePayoutFiles.listPayoutFiles, payoutFiles.listPayoutFiles),
  route(wirePayoutFiles.getPayoutFile, payoutFiles.getPayoutFile),
  route(wirePayoutFiles.importPayoutReport, payoutFiles.importPayoutReport),
  route(wireBankConnections.listBankConnections, bankConnections.listBankConnections),
  route(wireBankConnections.setSoftwareStatement, bankConnections.setSoftwareStatement),
  route(wireBankConnections.registerAtBank, bankConnections.registerAtBank),
  route(wireBankConnections.testBank, bankConnections.testBank),
  route(wireStatements.importStatements, statements.importStatements),
  route(wireStatements.listStatements, statements.listStatements),
  route(wireStatements.listStatementLines, statements.listStatementLines),
  route(wireStatements.listUnmatchedMovements, statements.listUnmatchedMovements),
  route(wireStatements.resolveStatementLine, statements.resolveStatementLine),
  route(wireStatements.creditReturnedRefund, statements.creditReturnedRefund),
  route(wireFees.getFees, fees.getFees),
  route(wireFees.setFees, fees.setFees),
  route(wireLimits.getLimits, limits.getLimits),
  route(wireLimits.setLimits, limits.setLimits),
  route(wireSettlements.listAdminSettlements, settlements.listAdminSettlements),
  route(wireSettlements.getAdminSettlement, settlements.getAdminSettlement),
  route(wireSettlements.listAdminSettlementLines, settlements.listAdminSettlementLines),
  route(wireSettlements.setSettlementSchedule, settlements.setSettlementSchedule),
  route(wireAudit.listAudit, audit.listAudit),
  route(wireAudit.exportAudit, audit.exportAudit),
  route(wireAudit.getAuditEntry, audit.getAuditEntry),
  route(wireDisputes.listAdminDisputes, disputes.listAdminDisputes),
  route(wireDisputes.getAdminDispute, disputes.getAdminDispute),
  route(wireDisputes.raiseAdminDispute, disputes.raiseAdminDispute),
  route(wireDisputes.escalateDispute, disputes.escalateDispute),
  route(wireDisputes.resolveDispute, disputes.resolveDispute),
  route(wireWebhooks.listOutbox, webhooks.listOutbox),
  route(wireWebhooks.replayForMerchant, webhooks.replayForMerchant),
  route(wireExplain.explainForOperator, explanations.explainForOperator),
  route(wireConsole.getOverview, consoleViews.getOverview),
  route(wireConsole.getPortalOverview, consoleViews.getPortalOverview),
  route(wireConsole.getInbox, consoleViews.getInbox),
  route(wireConsole.getPortalInbox, consoleViews.getPortalInbox),
  route(wireConsole.listAdminPayments, consoleViews.listAdminPayments),
  route(wireConsole.getAdminPayment, consoleViews.getAdminPayment),
  route(wireConsole.resolvePayment, consoleViews.resolvePayment),
  streamRoute(wireConsole.streamEvents, consoleViews.streamEvents),
  route(wireStaff.listStaff, staff.listStaff),
  route(wireStaff.addStaff, staff.addStaff),
  route(wireStaff.changeStaffRole, staff.changeStaffRole),
  route(wireStaff.removeStaff, staff.removeStaff),
  route(wireStaff.resetStaffFactor, staff.resetStaffFactor),
  route(wireErasure.erasePayer, erasure.erasePayer),
  route(wireTeam.resetMemberFactor, team.resetMemberFactor),
  route(wireStaff.listStaffClients, staff.listStaffClients),
  route(wireStaff.createStaffClient, staff.createStaffClient),
  route(wireStaff.revokeStaffClient, staff.revokeStaffClient),
  route(wireStaff.rotateRealmKeys, staff.rotateRealmKeys),
  route(wireService.getService, service.getService),
  route(wireService.whoami, service.whoami),
  route(wireBanks.listBanks, banks.listBanks),
  route(wireBanks.bankCallback, banks.bankCallback),
  route(wireCheckout.getCheckout, checkout.getCheckout),
  route(wirePayer.requestLink, payer.requestLink),
  route(wirePayer.verifyLink, payer.verifyLink),
  route(wirePayer.signOutPayer, payer.signOutPayer),
  route(wirePayer.listPayerPayments, payer.listPayerPayments),
  route(wirePayer.getPayerPayment, payer.getPayerPayment),
  route(wirePayer.sendPayerReceipt, payer.sendPayerReceipt),
  route(wirePayer.raisePayerDispute, payer.raisePayerDispute),
  route(wirePayer.listPayerConsents, payer.listPayerConsents),
  route(wirePayer.revokePayerConsent, payer.revokePayerConsent),
  route(wirePayer.leaveContact, payer.leaveContact),
  route(wireAccounts.listAccounts, accounts.listAccounts),
  route(wireAccounts.getBalance, accounts.getBalance),
  route(wireAccounts.listAccountTransactions, accounts.listAccountTransactions),
  route(wireOrders.createOrder, orders.createOrder),
  route(wireOrders.getOrder, orders.getOrder),
  route(wireRecurring.createRecurring, recurring.createRecurring, recurringRules),
  route(wireRecurring.listRecurring, recurring.listRecurring),
  route(wireRecurring.getRecurring, recurring.getRecurring),
  route(wireRecurring.cancelRecurring, recurring.cancelRecurring),
  route(wirePaymentRequests.createRequestToPay, paymentRequests.createRequestToPay, requestToPayRules),
  route(wirePaymentRequests.listRequestsToPay, paymentRequests.listRequestsToPay),
  route(wirePaymentRequests.getRequestToPay, paymentRequests.getRequestToPay),
  route(wirePaymentRequests.acceptRequestToPay, paymentRequests.acceptRequestToPay),
  route(wirePaymentRequests.rejectRequestToPay, paymentRequests.rejectRequestToPay),
  route(wirePaymentRequests.createOfferToPay, paymentRequests.createOfferToPay, offerToPayRules),
  route(wirePaymentRequests.listOffersToPay, paymentRequests.listOffersToPay),
  route(wirePaymentRequests.getOfferToPay, paymentRequests.getOfferToPay),
  route(wirePaymentRequests.acceptOfferToPay, paymentRequests.acceptOfferToPay),
  route(wirePaymentRequests.rejectOfferToPay, paymentRequests.rejectOfferToPay),
]

/** Operations that exist only in the sandbox (decision 60). */
export const SANDBOX_ROUTES: readonly Route[] = [
  route(wireSandbox.createSandboxMerchant, sandbox.createSandboxMerchant),
  route(wireSandbox.advanceSandboxClock, sandbox.advanceSandboxClock),
  route(wireSandbox.readSandboxClock, sandbox.readSandboxClock),
  route(wireSandboxBank.createSandboxCustomer, sandboxBank.createSandboxCustomer),
  route(wireSandboxBank.listSandboxAccounts, sandboxBank.listSandboxAccounts),
  route(wireSandboxBank.setSandboxAccount, sandboxBank.setSandboxAccount),
  route(wireSandboxBank.checkBooks, sandboxBank.checkBooks),
  route(wireSandboxBank.seedSandbox, sandboxBank.seedSandbox),
  route(wireSandboxFaults.getBankFaults, sandboxFaults.getBankFaults),
  route(wireSandboxFaults.setBankFaults, sandboxFaults.setBankFaults),
  route(wireSandboxFaults.listBankScenarios, sandboxFaults.listBankScenarios),
  route(wireSandboxFaults.advanceSandboxPayment, sandboxFaults.advanceSandboxPayment),
  route(wireDisputes.disputeAsPayer, disputes.disputeAsPayer),
  route(wireMails.listMails, mails.listMails),
  route(wireMails.getMail, mails.getMail),
]

/** The operations of a mode. */
export function routesOf(mode: 'sandbox' | 'live'): readonly Route[] {
  return mode === 'sandbox' ? [...ROUTES, ...SANDBOX_ROUTES] : ROUTES
}

function route<O extends Operation>(operation: O, handler: Handler<O>, rules?: BodyRules): Route {
  return {
    operation,
    handlerName: handler.name,
    bind: (app, guard) => makeEndpoint(app, guard, operation, replying(handler), rules),
  }
}

function streamRoute<O extends Operation>(operation: O, handler: StreamHandler<O>): Route {
  return {
    operation,
    handlerName: handler.name,
    bind: (app, guard) => makeEndpoint(app, guard, operation, streaming(handler)),
  }
}
