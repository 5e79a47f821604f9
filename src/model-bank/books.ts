import { randomBytes } from 'node:crypto'

/** What the bank keeps, in memory: a restart forgets it. The control port shows it as JSON. */
export type Books = {
  registrations: Map<string, Registration>
  consents: Map<string, Consent>
  payments: Map<string, Payment>
  accounts: readonly Account[]
}

export type Registration = {
  clientId: string
  orgId: string
  softwareId: string
  registeredAt: string
  metadata: Record<string, unknown>
}

export type Account = { SchemeName: string; Identification: string; Name: string; balance: string }

export type ConsentKind = 'domestic-payment' | 'domestic-vrp'
export type ConsentStatus = 'awaiting' | 'authorised' | 'consumed' | 'rejected' | 'revoked'

/** A consent, with what the client sent letter for letter. */
export type Consent = {
  id: string
  kind: ConsentKind
  clientId: string
  status: ConsentStatus
  createdAt: string
  statusAt: string
  /** Data as it was sent; Risk beside it. */
  data: Record<string, unknown>
  risk: Record<string, unknown>
  /** The grant of the authorisation server that the payer's tokens belong to. */
  grantId?: string
  account?: Account
}

/** The ISO codes of version 4.0; earlier versions have words for them (versions.ts). */
export type PaymentStatus = 'RCVD' | 'PDNG' | 'ACSP' | 'ACSC' | 'ACCC' | 'RJCT'

export type Payment = {
  id: string
  kind: ConsentKind
  consentId: string
  clientId: string
  status: PaymentStatus
  reasonCode?: string | undefined
  amount: string
  currency: string
  endToEndId: string
  createdAt: string
  statusAt: string
  /** When a payment in process gets its last status. */
  due?: { at: number; status: 'ACSC' | 'RJCT'; reasonCode?: string }
  data: Record<string, unknown>
  risk: Record<string, unknown>
  account: Account
}

export function makeBooks(): Books {
  return {
    registrations: new Map(),
    consents: new Map(),
    payments: new Map(),
    accounts: [
      account('20000011112222', 'A Payer, current account', '5000.00'),
      account('20000033334444', 'A Payer, savings', '250000.00'),
      account('20000055556666', 'A Payer, almost empty', '0.50'),
    ],
  }
}

function account(identification: string, name: string, balance: string): Account {
  return { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: identification, Name: name, balance }
}

export function newId(prefix: string): string {
  return `${prefix}-${randomBytes(12).toString('hex')}`
}

export function moveConsent(consent: Consent, status: ConsentStatus): void {
  consent.status = status
  consent.statusAt = new Date().toISOString()
}
