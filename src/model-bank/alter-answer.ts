import type { FaultName, Faults } from './faults.ts'
import type { ResourceAnswer } from './resource.ts'

type Member = { name: string; change: (value: unknown) => unknown }

/** What each fault changes, wherever the answer has it. */
const ALTERED: Partial<Record<FaultName, Member>> = {
  another_amount: { name: 'InstructedAmount', change: (value) => Object.assign({}, value, { Amount: '6543.21' }) },
  another_reference: { name: 'EndToEndIdentification', change: () => 'OF-ANOTHER-PAYMENT' },
  another_payee: {
    name: 'CreditorAccount',
    change: (value) => Object.assign({}, value, { Identification: '20000099999999' }),
  },
  another_consent: { name: 'ConsentId', change: () => 'of-another-payment' },
}

/** The answer as the faults that are on make it; the books stay as they are. */
export function alterAnswer(faults: Faults, operation: string, answer: ResourceAnswer): ResourceAnswer {
  const members = Object.entries(ALTERED).flatMap(([name, member]) =>
    faults.take(name as FaultName, operation) === undefined ? [] : [member],
  )
  if (members.length === 0 || answer.body === undefined) return answer
  const text = JSON.stringify(answer.body, (key, value: unknown) => {
    const member = members.find(({ name }) => name === key)
    return member === undefined ? value : member.change(value)
  })
  return { ...answer, body: JSON.parse(text) as Record<string, unknown> }
}
