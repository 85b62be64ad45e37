const en = {
  title: 'Chat',
  greeting: 'Hello! How can I help?',
  open: 'Open the chat',
  close: 'Close the chat',
  restart: 'Begin a new chat',
  messages: 'Messages',
  message: 'Message',
  placeholder: 'Write a message',
  send: 'Send',
  stop: 'Stop the answer',
  starters: 'Questions to begin with',
  failed: 'This did not work. Please try again.',
  limited: (until: string) => `No more answers can be given for now. Please try again after ${until}.`,
  needsLink: 'This link is not complete. Please ask for the whole link.',
  closed: 'This chat is not open at the moment.',
  source: (number: number, file: string) => `Source ${number}: ${file}`,
  passage: 'The passage',
  page: (page: number) => `page ${page}`,
  closeSource: 'Close the source',
  table: 'Table',
  limitedForNow: 'No more answers can be given for now. Please try again later.',
}

const de: typeof en = {
  title: 'Chat',
  greeting: 'Guten Tag! Wie kann ich helfen?',
  open: 'Chat öffnen',
  close: 'Chat schließen',
  restart: 'Neuen Chat beginnen',
  messages: 'Nachrichten',
  message: 'Nachricht',
  placeholder: 'Nachricht schreiben',
  send: 'Senden',
  stop: 'Antwort anhalten',
  starters: 'Fragen für den Anfang',
  failed: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
  limited: (until) =>
    `Im Augenblick sind keine weiteren Antworten möglich. Bitte versuchen Sie es nach ${until} wieder.`,
  needsLink: 'Dieser Link ist nicht vollständig. Bitte lassen Sie sich den ganzen Link geben.',
  closed: 'Dieser Chat ist zurzeit nicht geöffnet.',
  source: (number, file) => `Quelle ${number}: ${file}`,
  passage: 'Die Textstelle',
  page: (page) => `Seite ${page}`,
  closeSource: 'Quelle schließen',
  table: 'Tabelle',
  limitedForNow: 'Im Augenblick sind keine weiteren Antworten möglich. Bitte versuchen Sie es später wieder.',
}

/** The words of the chat bubble, by language; a page can set its title and greeting. */
export const languages = { en, de }
export type Language = keyof typeof languages
