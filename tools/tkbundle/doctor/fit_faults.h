/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FIT_FAULTS_H
#define TKBUNDLE_FIT_FAULTS_H

#include "doctor/fit.h"

/* After fits_take(): mark and count the misfits that are faults. 0 or TKB_ERR_NOMEM. */
TKB_NODISCARD int fit_faults_find(const struct fit_facts *facts,
                                  struct fits *fits, struct tkb_error *err);

#endif
