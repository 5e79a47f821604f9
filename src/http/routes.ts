import type { App } from '../app.ts'
import * as wireAdmin from '../wire/admin.ts'
import * as wireBanks from '../wire/banks.ts'
import type { Operation } from '../wire/operation.ts'
import * as wirePayments from '../wire/payments.ts'
import * as wirePortal from '../wire/portal.ts'
import * as wireRegistration from '../wire/registration.ts'
import * as wireSandbox from '../wire/sandbox.ts'
import * as wireService from '../wire/service.ts'
import * as wireStaff from '../wire/staff.ts'
import * as wireTeam from '../wire/team.ts'
import { makeEndpoint } from './endpoint.ts'
import type { Endpoint, Handler } from './endpoint.ts'
import type { Guard } from './guards.ts'
import * as admin from './handlers/admin.ts'
import * as banks from './handlers/banks.ts'
import * as payments from './handlers/payments.ts'
import * as portal from './handlers/portal.ts'
import * as registration from './handlers/registration.ts'
import * as sandbox from './handlers/sandbox.ts'
import * as service from './handlers/service.ts'
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
  route(wirePayments.refundPayment, payments.refund),
  route(wirePortal.getWebhookEndpoint, portal.getEndpoint),
  route(wirePortal.putWebhookEndpoint, portal.putEndpoint),
  route(wirePortal.listWebhooks, portal.listWebhooks),
  route(wirePortal.replayWebhook, portal.replay),
  route(wirePortal.listEvents, portal.listEvents),
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
  route(wireAdmin.listAudit, admin.listAudit),
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
  route(wireBanks.bankCallback, banks.callback),
]

/** What exists in the sandbox only (decision 60). */
export const SANDBOX_ROUTES: readonly Route[] = [
  route(wireSandbox.createSandboxMerchant, sandbox.createMerchant),
  route(wireSandbox.advanceSandboxClock, sandbox.advanceClock),
  route(wireRegistration.listMails, sandbox.listMails),
  route(wireRegistration.getMail, sandbox.getMail),
]

/** The table of a mode. */
export function routesOf(mode: 'sandbox' | 'live'): readonly Route[] {
  return mode === 'sandbox' ? [...ROUTES, ...SANDBOX_ROUTES] : ROUTES
}

function route<O extends Operation>(operation: O, handler: Handler<O>): Route {
  return { operation, bind: (app, guard) => makeEndpoint(app, guard, operation, handler) }
}
