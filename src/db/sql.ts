import { createSqlTag } from 'slonik'
import { z } from 'zod'

/**
 * The one `sql` tag of this project. A statement is written with its row's schema, `sql.type(Row)` or,
 * where it runs often, `sql.prepared('name', Row)`, and the pool checks every row against it; the aliases
 * are for the rows that have no shape of their own: `void` for a statement that returns nothing.
 */
export const sql = createSqlTag({
  typeAliases: {
    void: z.object({}).strict(),
    id: z.object({ id: z.uuid() }).strict(),
    count: z.object({ count: z.bigint() }).strict(),
    exists: z.object({ exists: z.boolean() }).strict(),
  },
})
