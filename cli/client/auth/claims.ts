import { z } from 'zod'

/** What a token says of itself. Read, never believed: only the service verifies signatures. */
export const Claims = z.looseObject({
  iss: z.string().optional(),
  sub: z.string().optional(),
  azp: z.string().optional(),
  exp: z.number().optional(),
  email: z.string().optional(),
  scope: z.string().optional(),
})
export type Claims = z.infer<typeof Claims>

/** The claims of a JWT, unverified; undefined where the text is none. */
export function claimsOf(token: string): Claims | undefined {
  const [, payload, signature, ...more] = token.split('.')
  if (payload === undefined || signature === undefined || more.length > 0) return undefined
  try {
    return Claims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))).data
  } catch {
    return undefined
  }
}

/** The realm that an issuer's address names. */
export function realmOfIssuer(issuer: string | undefined): { authUrl: string; realm: string } | undefined {
  const match = /^(?<authUrl>https?:\/\/.+)\/realms\/(?<realm>[a-z0-9-]+)$/.exec(issuer ?? '')
  const { authUrl, realm } = match?.groups ?? {}
  return authUrl === undefined || realm === undefined ? undefined : { authUrl, realm }
}
