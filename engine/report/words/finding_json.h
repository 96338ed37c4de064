/* The members of a finding in JSON that all who print one have. */
#ifndef ENGINE_REPORT_FINDING_JSON_H
#define ENGINE_REPORT_FINDING_JSON_H
#include "../record/slots.h"

/* kind, what, detail, hint */
void json_words(struct json *json, const struct finding *finding,
                const struct finding_words *words);
/* name, file, line, what, detail: of what is said beside a finding. */
void json_said(struct json *json, const char *name, const char *file, int line,
               const struct finding_words *words);
/* file, line, function, access, thread, block; variable, element; other */
void json_parties(struct json *json, const struct finding *finding);
/* The member "launch". */
void json_launch(struct json *json, const struct finding_launch *launch);

#endif
