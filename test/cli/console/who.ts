import type { Who } from '../../../cli/client/auth/acting-side.ts'
import { permissionsOf } from '../../../src/lib/permissions.ts'
import type { Role } from '../../../src/lib/permissions.ts'

/** Somebody of this role, as the service tells whoever asks. */
export function whoOf(role: Role, kind: Who['kind'] = 'platform'): Who {
  return {
    kind,
    realm: null,
    client_id: null,
    subject: 'ada',
    name: 'ada',
    role,
    permissions: permissionsOf(role),
    merchant: null,
    expires_at: null,
  }
}
