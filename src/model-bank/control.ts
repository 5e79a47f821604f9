import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bank } from './bank.ts'
import { settleIfDue } from './clearing.ts'
import { Fault } from './faults.ts'
import { readBody } from './read-body.ts'
import { sendJson } from './send-json.ts'

/** The control port: plain HTTP on the loopback address, for tests, and for operators who try out how a bank fails. */
export async function answerControl(bank: Bank, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await readBody(req)
  const route = `${req.method ?? ''} ${req.url ?? ''}`
  switch (route) {
    case 'GET /books':
      return sendJson(res, 200, showBooks(bank))
    case 'GET /faults':
      return sendJson(res, 200, bank.faults.list())
    case 'DELETE /faults':
      bank.faults.clear()
      return sendJson(res, 200, [])
    case 'POST /faults': {
      const fault = Fault.safeParse(JSON.parse(body.toString('utf8')))
      if (!fault.success) return sendJson(res, 400, { error: fault.error.message })
      bank.faults.add(fault.data)
      return sendJson(res, 200, bank.faults.list())
    }
    default:
      return sendJson(res, 404, { error: `no control route ${route}` })
  }
}

function showBooks({ books }: Bank): Record<string, unknown> {
  for (const payment of books.payments.values()) settleIfDue(payment)
  return {
    registrations: [...books.registrations.values()],
    accounts: books.accounts,
    consents: [...books.consents.values()],
    payments: [...books.payments.values()],
  }
}
