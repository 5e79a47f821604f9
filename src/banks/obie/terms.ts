import { z } from 'zod'

/** What a bank repeats of an order. A member that it leaves out says nothing. */
export const Terms = z.object({
  EndToEndIdentification: z.string().optional(),
  InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }).optional(),
  CreditorAccount: z.object({ Identification: z.string() }).optional(),
})
export type Terms = z.infer<typeof Terms>

/** An order or a consent has its terms in one of these; both of a payment under a mandate count. */
export const TermsMembers = { Initiation: Terms.optional(), Instruction: Terms.optional() }
type WithTerms = { Initiation?: Terms | undefined; Instruction?: Terms | undefined }

const Sent = z.object({ Data: z.object(TermsMembers) })

/** What is wrong with an answer that repeats other terms than those of our JSON text; undefined if they agree. */
export function problemOfTerms(sent: string, answered: WithTerms): string | undefined {
  const { Data } = Sent.parse(JSON.parse(sent))
  return differenceOf(Data.Initiation, answered.Initiation) ?? differenceOf(Data.Instruction, answered.Instruction)
}

function differenceOf(ours: Terms = {}, theirs: Terms = {}): string | undefined {
  const differs = (mine: string | undefined, other: string | undefined): boolean =>
    mine !== undefined && other !== undefined && mine !== other
  if (differs(valueOf(ours.InstructedAmount), valueOf(theirs.InstructedAmount)))
    return 'its answer is about another amount'
  if (differs(ours.CreditorAccount?.Identification, theirs.CreditorAccount?.Identification))
    return 'its answer is about another payee'
  const isAnother = differs(ours.EndToEndIdentification, theirs.EndToEndIdentification)
  return isAnother ? 'its answer is about another payment' : undefined
}

/** 5, 5.0 and 05.00 are one amount. */
function valueOf(amount: Terms['InstructedAmount']): string | undefined {
  if (amount === undefined) return undefined
  const [, whole = '', decimals = ''] = /^0*(\d*?)(?:\.(\d*?)0*)?$/.exec(amount.Amount) ?? []
  return `${whole}.${decimals} ${amount.Currency}`
}
