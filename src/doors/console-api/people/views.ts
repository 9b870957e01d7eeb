import { refuse } from '../../../core/errors.ts'
import { isUniqueViolation } from '../../../db/failure.ts'
import { transaction } from '../../../db/pool.ts'
import { holdSelf } from '../../../parties/team/factor.ts'
import {
  deleteView,
  putView,
  renameView,
  type SavedView,
  selectViews,
} from '../../../parties/team/views-store.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { changeMyView, deleteMyView, listMyViews, saveMyView } from './contract.ts'
import { notedTeam } from './own-session.ts'

const VIEWS_MAX = 50

/** Saved views of every signed-in user. The log names the view and its page, not the filters: these may hold documents. */
export const viewRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(listMyViews, async ({ signed, actor }) => ({
    data: (await selectViews(parts.office.shares.shared(actor).db, signed.user.id)).map(renderView),
  })),

  answer(saveMyView, async ({ signed, body, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    const { id: user_id } = signed.user
    const { environment, page, name, filters } = body
    return transaction(team.db, async (tx) => {
      await holdSelf(tx, team, signed.user)
      const before = await selectViews(tx, user_id)
      const id = team.newId('view')
      const view = await putView(tx, {
        id,
        user_id,
        environment: environment ?? '',
        page,
        name,
        filters: JSON.stringify(filters),
      })
      if (view.id === id && before.length >= VIEWS_MAX)
        refuse('not_possible', {
          message: `You have ${VIEWS_MAX} saved views, the most that a person may have. Delete one first.`,
        })
      await team.note(tx, 'save_view', { user: signed.user }, { after: noted(view) })
      return renderView(view)
    })
  }),

  answer(changeMyView, async ({ signed, params: { view_id }, body, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    return transaction(team.db, async (tx) => {
      await holdSelf(tx, team, signed.user)
      const view =
        (await renameView(tx, { id: view_id, user_id: signed.user.id, name: body.name })) ?? refuseUnknown()
      await team.note(tx, 'rename_view', { user: signed.user }, { after: noted(view) })
      return renderView(view)
    }).catch((error: unknown) => {
      if (isUniqueViolation(error, 'saved_views_name'))
        refuse('not_possible', { message: 'You have another view of this name on this page.' })
      throw error
    })
  }),

  answer(deleteMyView, async ({ signed, params: { view_id }, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    await transaction(team.db, async (tx) => {
      await holdSelf(tx, team, signed.user)
      const view = (await deleteView(tx, { id: view_id, user_id: signed.user.id })) ?? refuseUnknown()
      await team.note(tx, 'delete_view', { user: signed.user }, { before: noted(view) })
    })
    return undefined
  }),
]

const refuseUnknown = (): never =>
  refuse('object_not_found', { message: 'This view was deleted, or is not yours.' })

const noted = ({ id, environment, page }: SavedView) => ({
  view_id: id,
  page,
  environment: environment || null,
})

const renderView = ({ id, environment, page, name, filters }: SavedView) => ({
  id,
  environment: environment === '' ? null : environment,
  page: page as never,
  name,
  filters: JSON.parse(filters) as Record<string, string>,
})
