import { Type as T } from 'typebox'
import { TOTAL_ROWS_MAX } from '../../db/newest.ts'
import { Units } from '../../http/schema.ts'

/** A cursor belongs to its order: the order is one of the parameters that the tag of a cursor covers. */
export const orderQuery = {
  order: T.Optional(
    T.Enum(['newest', 'oldest'], { description: 'By creation time; newest first when absent' }),
  ),
}

const OrNull = <S extends ReturnType<typeof T.String>>(schema: S) => T.Union([schema, T.Null()])

const TotalsGroup = T.Object({
  status: OrNull(T.String()),
  asset: OrNull(T.String()),
  to_asset: OrNull(T.String({ description: 'What a conversion pays out' })),
  count: T.Integer(),
  amount: T.Union([Units, T.Null()]),
  to_amount: T.Union([Units, T.Null()]),
})

/** What a filter matches in all. Reads at most `rows_most` rows, so that no question about a long history is slow. */
export const TotalsObject = T.Object(
  {
    complete: T.Boolean({ description: 'False: only the newest rows_most rows were read' }),
    rows_most: T.Integer({ description: `${TOTAL_ROWS_MAX}` }),
    groups: T.Array(TotalsGroup),
  },
  { $id: 'ListTotals' },
)
