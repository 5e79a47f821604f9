import { z } from 'zod'

/** A realm's row. Keys are sealed; `keys.ts` opens them. */
export const RealmRecord = z.object({
  slug: z.string(),
  kind: z.enum(['merchant', 'platform', 'customers']),
  display_name: z.string(),
  registration_id: z.string(),
  signing_keys: z.string(),
  cookie_keys: z.string(),
  roles: z.array(z.string()),
  scopes: z.array(z.string()),
  is_enabled: z.boolean(),
  /** Changes with every update of the row, and is never reused for the same name. */
  version: z.bigint(),
})
export type RealmRecord = z.infer<typeof RealmRecord>

/** `portal` and `cli` are public clients of people; `service` is a confidential client of a server. */
export const ClientRecord = z.object({
  client_id: z.string(),
  kind: z.enum(['portal', 'service', 'cli']),
  secret_hash: z.string().nullable(),
  redirect_uris: z.array(z.string()),
  post_logout_redirect_uris: z.array(z.string()),
  web_origins: z.array(z.string()),
  follows_configuration: z.boolean(),
  roles: z.array(z.string()),
})
export type ClientRecord = z.infer<typeof ClientRecord>

/** A user. `subject` is the `sub` of its tokens and the key of its sessions and grants. */
export const UserRecord = z.object({
  id: z.string(),
  realm: z.string(),
  subject: z.string(),
  email: z.string(),
  display_name: z.string().nullable(),
  password_hash: z.string().nullable(),
  /** Whether the link of a mail set the password in the last hour: who only knows the password did not read that mail. */
  is_address_proved: z.boolean(),
  roles: z.array(z.string()),
  is_enabled: z.boolean(),
  /** Earlier sign-ins are invalid. */
  sessions_valid_from: z.string(),
})
export type UserRecord = z.infer<typeof UserRecord>

/** An item that the protocol library stores under an id. The payload is sealed. */
export const StateRecord = z.object({
  id_hash: z.string(),
  payload: z.string(),
  consumed_at: z.string().nullable(),
})
export type StateRecord = z.infer<typeof StateRecord>
