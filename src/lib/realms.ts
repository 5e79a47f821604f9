/** Realms that no merchant can have, and why (decision 46). */
export const PLATFORM_REALM = 'platform'
export const CUSTOMERS_REALM = 'customers'
/** Keycloak's own realm of administrators. */
const MASTER_REALM = 'master'

export const RESERVED_REALMS: readonly string[] = [PLATFORM_REALM, CUSTOMERS_REALM, MASTER_REALM]

export type RealmKind = 'merchant' | 'platform' | 'customers'

/** The clients of a realm, named from its slug, so that no two realms share one (decision 46). */
export function clientIdsOf(slug: string): { portal: string; server: string; cli: string } {
  return { portal: `${slug}-portal`, server: `${slug}-server`, cli: `${slug}-cli` }
}

/** The client id of an additional credential. `suffix` is 8 random characters of [a-z0-9]. */
export function credentialIdOf(slug: string, suffix: string): string {
  return `${slug}-key-${suffix}`
}

const CREDENTIAL_ID = /-key-[a-z0-9]{8}$/

/** Whether a client id has the form of a credential's. */
export function isCredentialId(clientId: string): boolean {
  return CREDENTIAL_ID.test(clientId)
}

const CLIENT_ID = /^(?<slug>[a-z0-9]+(?:-[a-z0-9]+)*)-(?:portal|server|cli|key-[a-z0-9]{8})$/

/** The realm that a client id names; undefined where it names none. Only a hint: tokens prove it. */
export function realmOfClientId(clientId: string): string | undefined {
  return CLIENT_ID.exec(clientId)?.groups?.['slug']
}

/** The redirect addresses of a portal after signing in and out, and the origins of its pages. */
export type PortalAddresses = { redirectUris: string[]; postLogoutRedirectUris: string[]; webOrigins: string[] }

/** The addresses of our own portal for a realm, as the service is configured. Neither address has a trailing slash. */
export function portalAddressesOf(
  slug: string,
  { publicUrl, portalUrl }: { publicUrl: string; portalUrl?: string | undefined },
): PortalAddresses {
  const own: Readonly<Record<string, string>> = {
    [PLATFORM_REALM]: `${publicUrl}/admin`,
    [CUSTOMERS_REALM]: `${publicUrl}/customers`,
  }
  const home = own[slug] ?? portalUrl ?? `${publicUrl}/portal`
  return {
    redirectUris: [`${home}/callback`],
    postLogoutRedirectUris: [home, `${home}/`],
    webOrigins: [new URL(home).origin],
  }
}

/** The issuer of a realm's tokens. `authUrl` has no trailing slash. */
export function issuerOf(authUrl: string, slug: string): string {
  return `${authUrl}/realms/${slug}`
}

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/
const SLUG_LENGTH = { min: 3, max: 40 }

/** Whether a text can be the name of a realm. */
export function isSlug(text: string): boolean {
  return text.length >= SLUG_LENGTH.min && text.length <= SLUG_LENGTH.max && SLUG.test(text)
}

/** Invisible characters, which could make two names look alike: controls, zero-width and direction marks. */
const INVISIBLE = /[\p{Cc}\p{Cf}]/u

const LETTERS = /\p{Letter}/gu
const LATIN = /\p{Script=Latin}/u
/** Scripts that are written beside Latin letters, and have no letter that looks like one. */
const BESIDE_LATIN =
  /[\p{Script=Common}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u

/**
 * Whether a word mixes Latin letters with letters of a script that may look Latin, as `Аcme` does with its Cyrillic A.
 */
function mixesAlphabets(word: string): boolean {
  const letters = (word.match(LETTERS) ?? []).filter((letter) => !BESIDE_LATIN.test(letter))
  const isLatin = letters.map((letter) => LATIN.test(letter))
  return isLatin.includes(true) && isLatin.includes(false)
}

/**
 * The realm's name for a company: accents folded, lower case, anything else a hyphen (decision 46). Undefined where
 * fewer than 3 usable characters remain, or where the name could pass for another one: with invisible characters, or a
 * word that mixes in letters that only look Latin. Longer names are cut to 40 characters.
 */
export function slugOf(companyName: string): string | undefined {
  const plain = companyName.normalize('NFKD').replaceAll(/\p{Mark}/gu, '')
  if (INVISIBLE.test(plain) || plain.split(/[^\p{Letter}\p{Number}]+/u).some(mixesAlphabets)) return undefined
  const slug = plain
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH.max + 1)
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, SLUG_LENGTH.max)
    .replace(/-+$/, '')
  return isSlug(slug) ? slug : undefined
}
