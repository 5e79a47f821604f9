import type { Flag } from '../kit/action.ts'

/** How much, of everything that moves money. @param member of the request, in which both stand */
export function moneyFlags(member: string) {
  return {
    amount: {
      value: 'amount',
      summary: 'Decimal amount, such as 10.00',
      required: true,
      member: `${member}.Amount`,
    },
    currency: { value: 'code', summary: 'GBP or EUR', required: true, member: `${member}.Currency` },
  } as const satisfies Record<string, Flag>
}
