import { Link, useNavigate } from '@tanstack/react-router'
import { FolderKanban, Gauge, Pencil, Trash2, UsersRound } from 'lucide-react'
import { useState } from 'react'
import { type Project, type Schemas, api, keys, queryClient, unwrap, useProjects, wordsOf } from '../lib/api.ts'
import { copyText } from '../lib/copy-text.ts'
import { isEnough, roleName } from '../lib/membership.ts'
import { openProject } from '../lib/open-project.ts'
import { personName } from '../lib/person.ts'
import { useSession } from '../lib/session.ts'
import { say } from '../lib/toasts.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { useTitle } from '../lib/use-title.ts'
import { texts } from '../texts/index.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog, Dialog, FormDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { BudgetSettings } from './budget.tsx'

/** Long enough to reach for it: the number is the proof of the deletion. */
const receiptShownMs = 15_000
const t = texts.projects

export function Projects() {
  useTitle(t.title)
  const projects = useProjects()
  const session = useSession()
  const [edited, setEdited] = useState<Project | 'new'>()
  const [budgeted, setBudgeted] = useState<Project>()
  const [deleted, setDeleted] = useState<Schemas['ProjectDeleteResponse']>()
  const navigate = useNavigate()
  const remove = (projectId: string, confirm: boolean) =>
    unwrap(api.DELETE('/projects/{project_id}', { params: { path: { project_id: projectId }, query: { confirm } } }))
  const refresh = () => queryClient.invalidateQueries({ queryKey: keys.projects })
  const ask = async (project: Project) => {
    try {
      const answer = await remove(project.project_id, false)
      if (answer.requires_confirmation) setDeleted(answer)
      else await refresh()
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
    }
  }
  const nameOf = (id: string) => projects.data?.find(({ project_id: other }) => other === id)?.name ?? ''
  return (
    <ListPage title={t.title} text={t.text} create={t.create} onCreate={() => setEdited('new')} query={projects}>
      <ul className="file-list">
        {projects.data?.map((project) => {
          const isCurrent = project.project_id === session?.projectId
          const isShared = project.owner.user_id !== session?.userId
          const isOwner = isEnough(project.role, 'owner')
          return (
            <li key={project.project_id} className="file-row file-row-wraps">
              <FolderKanban size={18} aria-hidden="true" className="muted" />
              <div className="grow">
                <div className="truncate">{project.name}</div>
                {isShared && (
                  <div className="muted small truncate">
                    {texts.roles.projectOf(personName(project.owner), roleName(project.role))}
                  </div>
                )}
                {project.description && <div className="muted small truncate">{project.description}</div>}
              </div>
              <div className="row">
                {isCurrent ? (
                  <span className="badge badge-accent">{t.current}</span>
                ) : (
                  <Button
                    size="small"
                    onClick={() =>
                      void openProject(project.project_id, project.name).then(() => navigate({ to: '/console/chat' }))
                    }
                  >
                    {t.open}
                  </Button>
                )}
                <Link
                  to="/console/projects/$projectId/people"
                  params={{ projectId: project.project_id }}
                  className="button button-icon"
                  aria-label={texts.roles.peopleOf(project.name)}
                  title={texts.roles.peopleOf(project.name)}
                >
                  <UsersRound size={16} />
                </Link>
                {isOwner && (
                  <>
                    <IconButton
                      label={`${texts.budget.title}: ${project.name}`}
                      icon={<Gauge size={15} />}
                      onClick={() => setBudgeted(project)}
                    />
                    <IconButton
                      label={`${texts.edit}: ${project.name}`}
                      icon={<Pencil size={15} />}
                      onClick={() => setEdited(project)}
                    />
                    <IconButton
                      label={`${texts.delete}: ${project.name}`}
                      title={isCurrent ? t.notCurrent : undefined}
                      icon={<Trash2 size={16} />}
                      disabled={isCurrent}
                      onClick={() => void ask(project)}
                    />
                  </>
                )}
              </div>
            </li>
          )
        })}
      </ul>
      {edited && <ProjectDialog project={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
      {budgeted && (
        <Dialog title={texts.budget.ofProject(budgeted.name)} onClose={() => setBudgeted(undefined)}>
          <div className="stack-small">
            <p className="muted">{texts.budget.projectText}</p>
            <BudgetSettings projectId={budgeted.project_id} />
          </div>
        </Dialog>
      )}
      {deleted && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(nameOf(deleted.project_id), deleted.assistants, deleted.threads)}
          action={texts.delete}
          onConfirm={async () => {
            const answer = await remove(deleted.project_id, true)
            await refresh()
            return answer.receipt_id
          }}
          onClose={() => setDeleted(undefined)}
          onDone={(receiptId) =>
            receiptId &&
            say(texts.deletedNow, 'plain', {
              label: texts.copyReceipt,
              run: () => void copyText(receiptId),
              ms: receiptShownMs,
            })
          }
        />
      )}
    </ListPage>
  )
}

function ProjectDialog({ project, onClose }: { project: Project | undefined; onClose: () => void }) {
  const [name, setName] = useState(project?.name ?? '')
  const [description, setDescription] = useState(project?.description ?? '')
  const form = useSubmit(async () => {
    const body = { name: name.trim(), description }
    if (project)
      await unwrap(api.PUT('/projects/{project_id}', { params: { path: { project_id: project.project_id } }, body }))
    else await unwrap(api.POST('/projects/', { body }))
    await queryClient.invalidateQueries({ queryKey: keys.projects })
    onClose()
  })
  return (
    <FormDialog
      title={project ? texts.edit : t.create}
      action={project ? texts.save : t.create}
      form={form}
      onClose={onClose}
    >
      <TextField label={texts.name} value={name} onValue={setName} required maxLength={100} autoFocus />
      <TextField label={`${texts.description} (${texts.optional})`} value={description} onValue={setDescription} />
    </FormDialog>
  )
}
