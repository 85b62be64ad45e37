import type { enMemory } from './en-memory.ts'

/** The page of facts in German. */
export const deMemory: typeof enMemory = {
  title: 'Gedächtnis',
  text: 'Fakten, die sich deine Assistenten über Chats hinweg merken. Ein Assistent speichert und nutzt sie, wenn er das Werkzeug „Gedächtnis“ hat.',
  create: 'Neuer Fakt',
  none: 'Es gibt noch keine Fakten.',
  example: '„Ich schreibe britisches Englisch.“',
  exampleFact: 'Der Benutzer schreibt britisches Englisch.',
  noneHere: 'Hier gibt es keine Fakten.',
  edit: 'Fakt ändern',
  fact: 'Fakt',
  factHelp:
    'Ein Satz, der für sich allein verständlich ist. Modelle bekommen ihn als Information, nicht als Anweisung.',
  for: 'Für',
  show: 'Anzeigen',
  all: 'Alle Fakten',
  everyAssistant: 'Alle meine Assistenten',
  ofAssistant: (name) => `Assistent: ${name}`,
  ofProject: (name) => `Projekt: ${name}`,
  gone: 'ein Assistent oder Projekt, das es nicht mehr gibt',
  byAssistant: 'von einem Assistenten gespeichert',
  byUser: 'von dir gespeichert',
  fromMessage: 'aus einem Chat',
  deleteTitle: 'Fakt löschen?',
  deleteText: 'Kein Assistent bekommt ihn mehr.',
}
