import { meansAllMerchants } from '../client/auth/acting-side.ts'
import type { AnyAction, Variant } from '../kit/action.ts'
import { STAFF_ACTIONS, TEAM_ACTIONS } from './actions.ts'
import { CREATE, REVOKE, ROTATE } from './credential-actions.ts'
import { list } from './credential-list.ts'
import { listMembers, listOperators } from './members.ts'

export const TEAM = [listMembers, ...TEAM_ACTIONS]

export const STAFF = [listOperators, ...STAFF_ACTIONS]

function bySide({ own, ofPlatform }: { own: AnyAction; ofPlatform: AnyAction }): AnyAction & { variant: Variant } {
  const choose: Variant['choose'] = async (context, { platform }) =>
    (await meansAllMerchants(context.client(), platform === true)) ? ofPlatform : own
  return { ...own, variant: { choose } }
}

export const CREDENTIALS = [list, bySide(CREATE), ROTATE, bySide(REVOKE)]
